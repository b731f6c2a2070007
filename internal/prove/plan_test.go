package prove

import "testing"

// A checkout that the platform refuses would end a world that is sound.
func TestEveryStoryCanBeTold(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		for _, number := range []int{2, 3} {
			p := drawPlan(seed, number, small)
			w := &world{kernel: newKernel(p.Seed, 1, p.Start), plan: p, byToken: make(map[string]*merchant), byID: make(map[int64]*deal), deals: make([]*deal, len(p.Deals))}
			if err := w.openPlatform(); err != nil {
				t.Fatal(err)
			}
			for i, d := range p.Deals {
				if d.At.After(w.now) {
					w.now = d.At
				}
				w.sign(i)
			}
			if w.err != nil {
				t.Errorf("seed %d, world %d: %v", seed, number, w.err)
			}
			if err := w.sim.Close(); err != nil {
				t.Fatal(err)
			}
		}
	}
}
