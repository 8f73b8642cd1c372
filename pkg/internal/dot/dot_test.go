package dot

import (
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/graph/encoding/dot"
	"gonum.org/v1/gonum/graph/multi"
)

// The reason why Read reads the syntax tree itself; when this fails, gonum has mended it and
// dot.UnmarshalMulti may be used. Tests of the syntax stand in pkg/graph.
func TestUnmarshalLosesEdgesToKnownNodes(t *testing.T) {
	const file = "digraph { 1; 2; 0 -> {1 2}; 3 }"
	lost := multi.NewDirectedGraph()
	if err := dot.UnmarshalMulti([]byte(file), lost); err != nil {
		t.Fatal(err)
	}
	g, err := Read(strings.NewReader(file))
	if err != nil || !slices.Equal(g.Edges, []Edge{{"0", "1", ""}, {"0", "2", ""}}) || lost.Edges().Len() != 0 {
		t.Errorf("Read: %v, error %v; gonum: %d edges", g, err, lost.Edges().Len())
	}
}
