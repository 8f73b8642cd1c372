package lanes

import (
	"fmt"
	"testing"
)

func BenchmarkAddMul(b *testing.B) {
	for _, s := range [][3]int{{8, 60, 30}, {8, 30, 60}, {30, 60, 8}, {8, 10, 90}, {10, 90, 8}, {8, 90, 10}, {1, 24, 24}} {
		for l := range levels {
			b.Run(fmt.Sprintf("%v/%s", s, levels[l]), func(b *testing.B) {
				defer func(old int) { level = old }(level)
				level = l
				m, n, k := s[0], s[1], s[2]
				c, x, y := Dense(m, n, make([]float64, m*n)), Dense(m, k, make([]float64, m*k)), Dense(k, n, make([]float64, k*n))
				for range b.N {
					c.AddMul(x, y)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(m*n*k), "ns/product")
			})
		}
	}
}
