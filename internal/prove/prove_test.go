package prove

import (
	"os"
	"runtime/pprof"
	"strconv"
	"testing"
	"time"
)

func TestSlice(t *testing.T) {
	number, _ := strconv.Atoi(os.Getenv("WORLD"))
	z := usual
	if n, _ := strconv.Atoi(os.Getenv("CONTRACTS")); n > 0 {
		z.contracts = n
	}
	p := drawPlan(1, number, z)
	if os.Getenv("QUIET") != "" {
		p.Rates = nil
	}
	if os.Getenv("STILL") != "" {
		p.Acts = nil
	}
	w, err := newWorld(p, "")
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if name := os.Getenv("PROFILE"); name != "" {
		f, _ := os.Create(name)
		pprof.StartCPUProfile(f)
		defer pprof.StopCPUProfile()
	}
	begun := time.Now()
	err = w.live()
	t.Logf("%s trace %x %+v orders %d steps %d", time.Since(begun), w.trace.Sum64(), w.tally, len(w.orders), w.steps)
	for i, v := range w.violations {
		if i < 10 {
			t.Error(v)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}
