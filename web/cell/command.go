package cell

import (
	"strings"
)

// The parts of a cell. A line that is removed becomes an empty line, so that all lines keep their numbers.
type parts struct {
	label        string
	lines        int // of the cell
	declarations string
	body         string // of main
	bodyLine     int    // where body begins
	hasMain      bool   // there is a body, perhaps an empty one
	commands     []command
}

// A command is a line that begins with %, without the %.
type command struct {
	line  int
	words []string
}

// split returns the parts of a cell.
func split(label, source string) (*parts, error) {
	lines := strings.Split(source, "\n")
	c := &parts{label: label, lines: len(lines)}
	var declarations, body []string
	for i, text := range lines {
		text = strings.TrimSuffix(strings.TrimPrefix(text, "//gonb:"), "\r")
		if strings.HasPrefix(text, "!") {
			return nil, at(label, i+1, "%s: there is no shell in the page, use Go", text)
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
		if !c.hasMain && strings.TrimSpace(text) == "package main" {
			text = "" // a whole file
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

// obey carries out the commands of a cell and returns the remaining declarations of the
// session. It appends the text of %ls to the program.
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
		case word == "restore" && len(rest) == 0:
			p.Restore = true
		case word == "ls" || word == "list":
			p.Text += list(units)
		case word == "rm" || word == "remove":
			for _, name := range rest {
				units = forget(units, name)
			}
		case (word == "%" || word == "main") && len(rest) > 0:
			return nil, at(c.label, cmd.line, "%%%s: a program has no arguments in the page, write the values into the cell; "+
				"statements stand below the line %%%%", strings.Join(cmd.words, " "))
		case word == "%" || word == "main":
			return nil, at(c.label, cmd.line, "main begins in line %d already; split the cell, or delete this line", c.bodyLine-1)
		default:
			return nil, at(c.label, cmd.line, "\"%%%s\" unknown or not implemented in the page, which has "+
				"%%%%, %%ls, %%rm, %%reset and %%restore: write it in Go, or open the notebook in JupyterLab with GoNB", word)
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
