package cell

import (
	"strings"
)

// The parts of a cell. Lines keep their places: what is taken out leaves an
// empty line.
type parts struct {
	label        string
	lines        int // of the cell
	declarations string
	body         string // of main
	bodyLine     int    // where body begins
	hasMain      bool   // there is a body, perhaps an empty one
	commands     []command
}

// A command is a line that begins with %, without that character.
type command struct {
	line  int
	words []string
}

const openElsewhere = "open the notebook in JupyterLab with GoNB for that"

// What of GoNB's commands a page does not have, and what to do instead.
var refused = map[string]string{
	"args":          "write the values into the cell",
	"capture":       "write the file in the cell, with os.WriteFile",
	"cd":            "write the folder into the paths of the cell",
	"env":           "call os.Setenv in the cell",
	"exec":          "call the function below %%",
	"goflags":       "leave the line out, the flags are fixed",
	"goworkfix":     "leave the line out",
	"help":          openElsewhere,
	"test":          openElsewhere,
	"track":         "leave the line out",
	"untrack":       "leave the line out",
	"version":       "print runtime.Version() in the cell",
	"wasm":          "leave the line out, every cell is WebAssembly here",
	"widgets":       openElsewhere,
	"widgets_hb":    openElsewhere,
	"with_inputs":   "write the values into the cell",
	"with_password": "write the values into the cell",
	"%writefile":    "write the file in the cell, with os.WriteFile",
	"%script":       "there is no shell, do it in Go",
	"%bash":         "there is no shell, do it in Go",
	"%sh":           "there is no shell, do it in Go",
}

// split takes a cell apart.
func split(label, source string) (*parts, error) {
	lines := strings.Split(source, "\n")
	c := &parts{label: label, lines: len(lines)}
	var declarations, body []string
	for i, text := range lines {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "//gonb:"), "\r")
		if strings.HasPrefix(text, "!") {
			return nil, at(label, i+1, "%s: there is no shell in the page, do it in Go", text)
		}
		if rest, found := strings.CutPrefix(text, "%"); found {
			cmd := command{i + 1, strings.Fields(rest)}
			text = ""
			if cmd.beginsMain() && !c.hasMain {
				c.hasMain, c.bodyLine = true, i+2
				continue
			}
			c.commands = append(c.commands, cmd)
		}
		if c.hasMain {
			body = append(body, text)
		} else {
			declarations = append(declarations, text)
		}
	}
	c.declarations, c.body, c.bodyLine = strings.Join(declarations, "\n"), strings.Join(body, "\n"), max(c.bodyLine, 1)
	return c, nil
}

func (c command) beginsMain() bool {
	return len(c.words) == 1 && (c.words[0] == "%" || c.words[0] == "main")
}

// obey carries out the commands of a cell and returns what is left of the
// session's declarations. What is to be shown goes into the program.
func (s *Session) obey(c *parts, p *Program) ([]unit, error) {
	units := s.units
	for _, cmd := range c.commands {
		if len(cmd.words) == 0 {
			continue
		}
		word, rest := cmd.words[0], cmd.words[1:]
		switch {
		case word == "noautoget" || word == "autoget":
		case word == "reset" && len(rest) == 0:
			units = nil
		case word == "ls" || word == "list":
			p.Text += list(units)
		case word == "rm" || word == "remove":
			for _, name := range rest {
				units = forget(units, name)
			}
		case word == "%" || word == "main":
			why := "it has begun the body of main already"
			if len(rest) > 0 {
				why = "a program has no arguments in the page, write the values into the cell"
			}
			return nil, at(c.label, cmd.line, "%%%s: %s", strings.Join(cmd.words, " "), why)
		case refused[word] != "":
			return nil, at(c.label, cmd.line, "%%%s is not available in the page: %s", word, refused[word])
		default:
			return nil, at(c.label, cmd.line, "%%%s is no command that the page knows: %s", word, openElsewhere)
		}
	}
	return units, nil
}

// list returns the names that the units declare, a line for each unit.
func list(units []unit) string {
	var b strings.Builder
	for _, u := range units {
		var names []string
		for _, n := range u.names {
			names = append(names, n.text)
		}
		b.WriteString(u.label + ": " + u.prefix + strings.Join(names, ", ") + "\n")
	}
	return b.String()
}
