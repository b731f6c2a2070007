package prove

import (
	"slices"
	"testing"
	"time"
)

// A checkout that the platform refuses would end a world that is sound.
func TestEveryStoryCanBePrinted(t *testing.T) {
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

func TestClockRecoversFromJumps(t *testing.T) {
	t.Parallel()
	w := &world{kernel: newKernel(1, 1, time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)), stirred: true}
	n := &node{w: w}
	w.nodes = []*node{n}
	for range 500 {
		w.at(w.now.Add(w.between(0, 50*day)), func() { lasting[ClockJump](w) })
		w.at(w.now.Add(w.between(0, 50*day)), func() { lasting[ClockSkew](w) })
	}
	far := false
	for end := w.now.AddDate(1, 0, 0); w.next(end); {
		if n.skew < -5*time.Minute || n.skew > farthestJump {
			t.Fatalf("the clock is wrong by %s", n.skew)
		}
		far = far || n.skew > time.Hour
	}
	if !far || n.skew > 5*time.Minute {
		t.Errorf("jumped %t, and in the end it is wrong by %s", far, n.skew)
	}
}

func TestPoolRunsLongestWorldFirst(t *testing.T) {
	t.Parallel()
	var order []int
	q := pool{turns: make(chan struct{}, 1), live: func(number int) Life {
		order = append(order, number)
		return Life{Number: number}
	}}
	q.turns <- struct{}{} // until all have been begun
	small, large, last := q.begin(1, 500), q.begin(2, 15_000), q.begin(3, 500)
	<-q.turns
	q.running.Wait()
	if want := []int{2, 1, 3}; !slices.Equal(order, want) {
		t.Errorf("ran %v, want %v", order, want)
	}
	for i, world := range []begun{small, large, last} {
		if l := <-world.life; l.Number != i+1 {
			t.Errorf("world %d answered as world %d", i+1, l.Number)
		}
	}
}
