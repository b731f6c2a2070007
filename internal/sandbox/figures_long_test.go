//go:build soak

package sandbox

import "testing"

func TestFiguresOfYearEqualRebuild(t *testing.T) {
	t.Parallel()
	b := start(t, Options{Contracts: 40})
	b.advance("P1Y")
	checkFigures(t, b)
}
