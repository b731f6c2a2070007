package prove

import (
	"os"
	"runtime/pprof"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

func TestSlice(t *testing.T) {
	p := drawPlan(1, 0)
	w, err := newWorld(p, "", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if name := os.Getenv("PROFILE"); name != "" {
		f, _ := os.Create(name)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	type one struct {
		id   int64
		spec simulator.ContractSpec
		s    shopPlan
	}
	var made []one
	for _, s := range p.Shops {
		for _, spec := range s.Contracts {
			m, err := w.sim.Checkout(spec)
			if err != nil {
				t.Fatal(err)
			}
			made = append(made, one{m.Contract, spec, s})
		}
	}
	w.platformDue()
	begun := time.Now()
	end := p.Start.Add(p.Lasts)
	if err := w.pass(end); err != nil {
		t.Fatal(err)
	}
	orders := w.sim.Orders(simulator.OrderFilter{})
	t.Logf("%d orders, %d calls, %d webhooks, %d steps, %d failed, %s, trace %x", len(orders), w.calls, w.webhooks, w.steps, w.failed, time.Since(begun), w.trace.Sum64())
	by := map[int64]map[int]int{}
	for _, o := range orders {
		if by[o.Contract] == nil {
			by[o.Contract] = map[int]int{}
		}
		by[o.Contract][o.Cycle]++
	}
	bad := 0
	for _, c := range made {
		zone, _ := time.LoadLocation(c.s.Zone)
		dates := oracle.Owed(oracle.Policy{Interval: "MONTH", IntervalCount: 1}, c.spec.NextBillingDate, end.Add(-time.Hour), oracle.Calendar{Zone: zone, Hour: c.s.Hour, Minute: c.s.Minute})
		for i := range dates {
			if by[c.id][i+1] != 1 {
				bad++
			}
		}
	}
	if bad > 0 {
		t.Errorf("%d bad", bad)
	}
}
