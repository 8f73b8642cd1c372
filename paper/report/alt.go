package report

// alts are the alternative texts of the figures in the registry.
var alts = map[string]string{
	"fig-graph-example": "Six positions in a row with arrows from parent to child: from 1 to 2 and 3, from 2 to " +
		"4, from 3 to 5. Position 6, the query, stands alone.",
	"fig-worked-example": "Six letters with the arrows of their causal graph. Below, in three steps: the letter " +
		"of each one’s parent, a yes where it is the letter of the query, and the two letters kept, each counted " +
		"1/2.",
	"fig-stream": "Three rows of blocks, tokens and positions by turns, two, four and eight of them; red arrows " +
		"lead from the blocks that a matrix reads to those that it writes. At the right the blocks of the three " +
		"matrices, one framed in each.",
	"fig-induction-head": "Heat maps of three weight matrices below arcs from odd positions to the next. In the " +
		"first, the dark cells of a framed block repeat the arcs; in the two others a framed block has a dark " +
		"diagonal.",
	"fig-single-parent": "Three rows, one for each graph: the adjacency matrix, the first attention matrix, " +
		"whose framed block repeats it, and the second, whose framed block has a dark diagonal.",
	"fig-many-graphs": "A curve of attention near 0.85 over most positions that falls to about 0.5 at the last " +
		"one with a parent. The paper’s marks with their bars run along it, mostly a little above.",
	"fig-many-graphs-by-graph": "Marks over 20 graphs, many of ours and one of the paper’s each, most between " +
		"0.75 and 0.9. On most graphs the paper’s lies among ours, on a few above all of them.",
	"fig-single-parent-loss": "Test loss against the step for three graphs: each curve falls from the loss of a " +
		"uniform guess towards three horizontal lines of reference.",
	"fig-single-parent-chain": "The three weight matrices of the run on the chain: in the first, the dark cells " +
		"of the framed block stand just below its diagonal.",
	"fig-single-parent-random": "The three weight matrices of the run on the random graph: the dark cells of " +
		"the framed block of the first are those of the arcs above.",
	"fig-multi-parent": "Rows of heat maps, one for each graph with several parents: the graph and the " +
		"attention of each head, a bright line along one of its parents. At the right the attention of every seed, " +
		"above 0.9 for each head.",
	"fig-multi-parent-full": "Rows of heat maps of all first-layer weights, one for each graph: in the framed " +
		"block of each head a dark line follows one of the parents; the rest is pale.",
	"fig-multi-parent-printed": "Two rows of heat maps in the paper’s setting: the graph and the attention of " +
		"each head, a bright line along one of its parents.",
	"fig-multi-parent-seeds": "Four rows of heat maps, one for each seed: each head keeps to one parent, the " +
		"steep line or the diagonal, at nearly all positions, but for a cell of the one in the other's place.",
	"fig-multi-parent-positions": "Marks of attention by position for three graphs, nearly all close to 1, low " +
		"at the last positions, and on the second graph for one head at position 17.",
	"fig-multi-parent-loss": "Test loss against the step in five panels: each curve falls to just above the " +
		"line of all parents, far below that of one parent; one seed on the second graph falls late.",
	"fig-mlp": "Three rows of heat maps: the graph and the average attention with trained and with fixed " +
		"embeddings. Most bright cells are those of the graph; roots attend elsewhere.",
	"fig-mlp-seeds": "Six heat maps of average attention on the random graph, three seeds with trained and " +
		"three with fixed embeddings. Most bright cells recur; some edges are missing in some seeds.",
	"fig-forward-pass": "Six letters with arrows to their parents, the copied letters below, arrows from the " +
		"query to the two copies of its own letter, and the letters there, whose mean is the output.",
	"fig-forward-pass-roots": "The same drawing for a sequence whose first letter is the query’s: a grey arrow " +
		"leads to this root as well, and its letter enters the output.",
	"fig-construction-error": "Error against the scale for two constructions and three lengths: each curve " +
		"falls until a scale of about 10 and is flat from there, the lower the longer the sequence.",
	"fig-proof-sketch": "A causal graph on 11 positions. Below, marks of gradient, information and their bound " +
		"by position, all largest at the parent; and the attention on the parent, which grows to 1 while all others " +
		"die out.",
	"fig-gij": "Above, the adjacency matrices of four graphs; below, the gradient of each. The darkest cells of " +
		"a gradient are the edges of its graph.",
	"fig-stage-one": "Attention on the parents, which grows to 1 in all rows, and the largest of each root, " +
		"which grows more slowly; what is left falls to a dashed line. Below, the graph and the attention at the " +
		"end: the same bright cells, and one in the row of each root.",
	"fig-ghat-beta": "Force against beta for four lengths on two graphs: curves that rise, peak between 0 and 2 " +
		"and fall to zero, the higher the longer the sequence, below a dashed curve that is their limit.",
	"fig-beta-growth": "Beta against the logarithm of the step: S-shaped curves that rest at a level for short " +
		"sequences and keep growing slowly for long ones, near the predicted curve. The guaranteed growth stays at " +
		"zero.",
	"fig-why-it-stops": "Left, the error against beta: it falls and is flat long before the mark where stage 2 " +
		"ends, the lower the longer the sequence. Right, the force: it vanishes for short sequences and falls off " +
		"exponentially for long ones.",
	"fig-loss-gap": "Excess loss against the effective length on logarithmic axes: straight falling lines for " +
		"four families, steeper where stage 2 runs to its end; two families stay at the left.",
	"fig-ood": "Largest error against the effective length on logarithmic axes for two graphs: median and 99 % " +
		"quantile fall, outside of the prior no slower than inside.",
	"fig-finite-samples": "Left, error against the number of sequences on logarithmic axes: parallel lines of " +
		"slope minus one half. Right, the share of parents found, which rises to 1.",
	"fig-sample-size": "Sequences needed against the length on logarithmic axes: three nearly flat curves of " +
		"some hundred, beside two rising lines of comparison.",
	"fig-one-draw": "A curve that rises from 0 to 1 like a bell’s integral, and to its right an upright line at the " +
		"paper’s mean.",
	"fig-decided": "Five curves, one for each graph, which go up and down between minus 0.7 and one half " +
		"for thousands of steps and climb to one in the end, four of them by step 12 000, one only after step 14 000.",
	"fig-branch": "Curves about zero. Those of the runs that begin the edge fall below the others within " +
		"two thousand steps, come back, fall further, and rise late in training, most of them far above, to the " +
		"paper’s mark.",
	"fig-plateau": "Test loss against the step, a curve for each seed: all stay near 1.15 for some 2000 steps; nine " +
		"then fall to 0.95 at once, one crawls near 1.05 and falls only after step 12 000.",
	"fig-joint": "Nine panels of marks in five colours, one for each family of graphs. The loss above the least " +
		"is largest in the star, at an effective length of one, and flat elsewhere; the excess over Bayes " +
		"rises and the attention falls with the length alone.",
	"fig-covariance-paths": "Two trees: an ancestor with a path of two edges to j at the left and of three to i " +
		"at the right. In the first each edge is a factor B; in the second the last edge to i is red and each other " +
		"one is a factor alpha.",
	"fig-headline": "Three bars of coloured pieces with their counts: of the 62 statements about half hold, more than" +
		" a third fail, and the rest are consistent; most of the steps listed fail; every correction " +
		"holds or is consistent.",
	"fig-ledger": "A list of all statements by section with a mark at the margin of each: marks at the left of " +
		"zero fail, and a line leads from these to the mark of the corrected statement at zero or at the right.",
	"fig-claims-graph": "Boxes of statements, joined by lines from the lemmas at the top to the two theorems at " +
		"the bottom, in the colour of their verdicts. False statements stand near the top and in the middle.",
}
