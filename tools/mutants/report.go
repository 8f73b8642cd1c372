package main

import (
	"bufio"
	"bytes"
	_ "embed"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"
)

// known lists the survivors that cannot be killed: a line with a reason, and
// below it, each after a tab, the mutants that it is true of.
//
//go:embed survivors.txt
var known []byte

// equivalent lists, in the same form, the mutants of pkg that do what the code does.
//
//go:embed equivalent.txt
var equivalent []byte

// reasons returns the reason of each mutant that is listed, by its key.
func reasons(list []byte) (map[string]string, error) {
	of, reason := map[string]string{}, ""
	lines := bufio.NewScanner(bytes.NewReader(list))
	for n := 1; lines.Scan(); n++ {
		line := lines.Text()
		switch key, listed := strings.CutPrefix(line, "\t"); {
		case strings.TrimSpace(line) == "" || line[0] == '#':
		case !listed:
			reason = line
		case strings.Count(key, "\t") != 3 || reason == "":
			return nil, fmt.Errorf(
				"mutants: line %d of the list is %q, want a reason, or file, function, mutant and line after tabs",
				n, line)
		default:
			of[key] = reason
		}
	}
	return of, lines.Err()
}

// sample returns n of the mutants, or all if there are not so many. Which they
// are, and their order, depends on their text and the seed, hardly on other mutants.
func sample(all []mutant, n int, seed uint64) []mutant {
	seen := map[string]int{}
	rank := make([]uint64, len(all))
	for i, m := range all {
		seen[m.key()]++
		h := fnv.New64a()
		fmt.Fprintf(h, "%d\t%d\t%s", seed, seen[m.key()], m.key())
		rank[i] = mix(h.Sum64())
	}
	index := make([]int, len(all))
	for i := range index {
		index[i] = i
	}
	slices.SortFunc(index, func(a, b int) int {
		if rank[a] < rank[b] {
			return -1
		}
		return 1
	})
	index = index[:min(n, len(index))]
	out := make([]mutant, len(index))
	for k, i := range index {
		out[k] = all[i]
	}
	return out
}

// mix spreads the bits of a hash (splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// table writes how many mutants there are and were killed, by a label.
func table(w io.Writer, title string, all []mutant, label func(mutant) string) {
	count, killed := map[string]int{}, map[string]int{}
	for _, m := range all {
		for _, l := range []string{label(m), "all"} {
			count[l]++
			if m.killed != "" {
				killed[l]++
			}
		}
	}
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(tw, "%s\tmutants\tkilled\trate\t\n", title)
	for _, l := range slices.Sorted(maps.Keys(count)) {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%.1f %%\t\n", l, count[l], killed[l], 100*float64(killed[l])/float64(count[l]))
	}
	_ = tw.Flush()
	fmt.Fprintln(w)
}

// tell writes a mutant that was not killed, with its place and, if it is listed,
// why.
func tell(w io.Writer, m mutant, reason string) {
	fmt.Fprintf(w, "%s:%d: %s (%s)\n\t%s -> %s\n\tin %s\n",
		m.file, m.line, m.function, m.operator, m.before, m.after, m.source)
	if reason != "" {
		fmt.Fprintf(w, "\tlisted: %s\n", reason)
	}
}

// stale writes what is listed and is no mutant any more.
func stale(w io.Writer, all []mutant, of map[string]string) {
	there := map[string]bool{}
	for _, m := range all {
		there[m.key()] = true
	}
	for _, key := range slices.Sorted(maps.Keys(of)) {
		if !there[key] {
			fmt.Fprintf(w, "survivors.txt lists what makes no difference to any row, or is no mutant: %s\n",
				strings.ReplaceAll(key, "\t", ", "))
		}
	}
}
