package prove

import (
	"bytes"
	"cmp"
	"errors"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/pgtest"
	"github.com/perennialhq/perennial/internal/platform/simulator"
)

// tiny is a world that takes seconds.
var tiny = size{shops: 2, contracts: 24, tales: 1, lasts: 60 * day, calm: 6 * day, slack: 200 * time.Millisecond, busy: 0.4}

// only switches on some kinds of faults, at so many times their usual rate.
func only(times float64, list ...Kind) map[Kind]float64 {
	rates := make(map[Kind]float64)
	for _, k := range list {
		rates[k] = kinds[k] * times
	}
	return rates
}

// lived runs a world to its end.
func lived(t *testing.T, p plan, database string, change ...func(*world)) *world {
	t.Helper()
	w, err := newWorld(p, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.close)
	for _, c := range change {
		c(w)
	}
	if err := w.live(t.Context()); err != nil && w.violations == nil {
		t.Fatal(err)
	}
	t.Logf("%d renewals, %d steps, %d deaths, faults %v, checks %v", len(w.orders), w.steps, w.deaths, w.counts, w.checks)
	return w
}

// sound reports what is wrong with a world.
func (w *world) sound(t *testing.T) *world {
	t.Helper()
	for _, v := range w.violations[:min(len(w.violations), 10)] {
		t.Error(v)
	}
	if w.due == 0 || len(w.orders) == 0 {
		t.Error("nothing fell due: the world proves nothing")
	}
	return w
}

// ledger is what a world's platform charged, in no order of time.
func (w *world) ledger() []string {
	var list []string
	for key, o := range w.orders {
		list = append(list, strconv.FormatInt(key.contract, 10)+"/"+strconv.Itoa(key.cycle)+" "+o.Amount)
	}
	slices.Sort(list)
	return list
}

func same(t *testing.T, what string, a, b *world) {
	t.Helper()
	if x, y := a.ledger(), b.ledger(); !slices.Equal(x, y) {
		t.Errorf("%s: %d orders and %d, which differ:\n%v\n%v", what, len(x), len(y), x, y)
	}
}

func TestQuietWorldHasNoPendingWork(t *testing.T) {
	t.Parallel()
	p := drawPlan(11, 1, tiny)
	p.Rates = nil
	w := lived(t, p, "").sound(t)
	if len(w.done) == 0 || w.failed > 0 || w.deaths > 0 {
		t.Errorf("done %v, %d tasks failed, %d deaths", w.done, w.failed, w.deaths)
	}
	if got, want := len(w.orders), p.expected(); got < want/2 || got > want*3/2 {
		t.Errorf("%d renewals, of about %d that were expected", got, want)
	}
}

func TestStormIsSurvivedAndSeedRepeatsIt(t *testing.T) {
	t.Parallel()
	p := drawPlan(12, 1, tiny)
	p.Nodes = 2
	p.Rates = make(map[Kind]float64)
	for k, rate := range kinds {
		p.Rates[k] = rate
	}
	first := lived(t, p, "").sound(t)
	again := lived(t, p, "").sound(t)
	if a, b := first.trace.Sum64(), again.trace.Sum64(); a != b || first.steps != again.steps {
		t.Errorf("one seed left two traces: %016x after %d steps, %016x after %d", a, first.steps, b, again.steps)
	}
	p.Seed++
	if other := lived(t, p, "").sound(t); other.trace.Sum64() == first.trace.Sum64() {
		t.Error("two seeds left one trace: it shows nothing")
	}
}

// bare is a story in which nothing depends on the moment: what is charged must be
// the same however the service is run.
func bare(seed uint64) plan {
	p := drawPlan(seed, 1, tiny)
	p.Rates, p.Acts, p.Nodes = nil, nil, 1
	return p
}

func TestBothDatabasesLeaveTheSameTrace(t *testing.T) {
	t.Parallel()
	p := drawPlan(13, 1, tiny)
	p.Lasts = min(p.Lasts, longestOnBoth)
	p.Rates = only(1, AnswerLost, DatabaseConflict, Death, WebhookLost)
	lite := lived(t, p, "").sound(t)
	post := lived(t, p, pgtest.Empty(t)).sound(t)
	same(t, "on SQLite and PostgreSQL", lite, post)
	if a, b := lite.trace.Sum64(), post.trace.Sum64(); a != b {
		t.Errorf("SQLite left the trace %016x and PostgreSQL %016x", a, b)
	}
}

// unhurried is a story in which even the longest outage does not change what is owed:
// no charge fails for good, and no contract is due twice during an outage.
func unhurried(seed uint64) plan {
	p := bare(seed)
	p.Deals = slices.DeleteFunc(p.Deals, func(d dealPlan) bool {
		return d.Spec.Billing.Interval == "DAY" || d.Spec.Billing.Interval == "WEEK" && d.Spec.Billing.IntervalCount == 1
	})
	for i := range p.Deals {
		p.Deals[i].Outcomes, p.Deals[i].Finish = nil, simulator.Succeed
	}
	return p
}

// However many nodes run on whichever database, whatever becomes of the queue and
// whatever fails: the platform's books are the same in the end.
func TestChargesDependOnStoryAlone(t *testing.T) {
	t.Parallel()
	const seed = 14
	quiet := lived(t, unhurried(seed), "").sound(t)
	for name, fate := range map[string]struct {
		nodes    int
		times    float64 // at which faults happen, of their usual rates
		emptied  float64 // the same of the loss of the queue
		postgres bool
		later    bool // only in a soak: another one has the same and more
	}{
		"three nodes":                           {nodes: 3},
		"an emptied queue":                      {nodes: 1, emptied: 40, later: true},
		"faults":                                {nodes: 1, times: 2, emptied: 2, later: true},
		"faults, three nodes":                   {nodes: 3, times: 2, emptied: 2, later: true},
		"faults, three nodes, an emptied queue": {nodes: 3, times: 2, emptied: 40},
		"the same on PostgreSQL":                {nodes: 3, times: 2, emptied: 40, postgres: true, later: true},
	} {
		if fate.later && !everyFate {
			continue
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := unhurried(seed)
			p.Nodes = fate.nodes
			p.Rates = map[Kind]float64{SweepAtOnce: kinds[SweepAtOnce], TaskTwice: kinds[TaskTwice]}
			if fate.times > 0 {
				p.Rates = only(fate.times, slices.Collect(mapsKeys(kinds))...)
			}
			p.Rates[QueueEmptied] = fate.emptied * kinds[QueueEmptied]
			database := ""
			if fate.postgres {
				database = pgtest.Empty(t)
			}
			w := lived(t, p, database).sound(t)
			if fate.times > 0 && w.counts[Death]+w.counts[DeathOfAll] == 0 || fate.emptied > 0 && w.counts[QueueEmptied] == 0 {
				t.Errorf("too little happened: %v", w.counts)
			}
			same(t, "in quiet and with "+name, quiet, w)
		})
	}
}

func TestOneStoreDoesNotDependOnAnother(t *testing.T) {
	t.Parallel()
	p := bare(16)
	both := lived(t, p, "").sound(t)
	p.Deals = slices.Clone(p.Deals)
	p.Deals = slices.DeleteFunc(p.Deals, func(d dealPlan) bool { return d.Shop != 0 })
	alone := lived(t, p, "").sound(t)
	mine := slices.DeleteFunc(both.ledger(), func(line string) bool { return len(strings.SplitN(line, "/", 2)[0]) > len("9001") })
	if !slices.Equal(mine, alone.ledger()) {
		t.Errorf("the first store was charged %v beside another, and %v alone", mine, alone.ledger())
	}
}

var idempotencyKey = regexp.MustCompile(`prn1-[a-z0-9]+`)

// Broken services must be caught: a checker that never fails proves nothing.
func TestBrokenServicesAreCaught(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]struct {
		on    offer // of all contracts; empty: as they are drawn
		rates map[Kind]float64
		how   func(*testing.T, *world)
		by    []Invariant
	}{
		"a key that is another one each time": {
			rates: only(8, AnswerLost, CallLate, ResetAfter),
			how: func(t *testing.T, w *world) {
				n := 0
				w.tamper = func(c *call) {
					c.body = idempotencyKey.ReplaceAllFunc(c.body, func(key []byte) []byte {
						n++
						return append(key[:len(key)-6:len(key)-6], []byte(strconv.Itoa(100_000+n))...)
					})
				}
			},
			by: []Invariant{I1, I5},
		},
		"an order that is charged twice": {
			how: func(t *testing.T, w *world) {
				w.tamper = func(c *call) {
					if !c.changes() || !bytes.Contains(c.body, []byte("prn1-")) {
						return
					}
					twin := *c
					twin.body = idempotencyKey.ReplaceAll(c.body, []byte("another"))
					w.tamper = nil
					w.after(time.Hour, func() { w.ask(&twin) })
				}
			},
			by: []Invariant{I5, I11},
		},
		"a row that is changed behind the service": {
			how: func(t *testing.T, w *world) {
				w.after(30*day, func() {
					_, err := w.books.ExecContext(t.Context(), "UPDATE attempts SET status = 'QUEUED', order_id = 0, due_at = 1 WHERE status = 'SUCCESS'")
					w.check(err)
				})
			},
			by: []Invariant{I3, I6, I7},
		},
		"an order that was expected to cost something else": {
			how: func(t *testing.T, w *world) {
				w.after(45*day, func() {
					_, err := w.books.ExecContext(t.Context(), "UPDATE attempts SET expected = expected + 1 WHERE status = 'SUCCESS'")
					w.check(err)
				})
			},
			by: []Invariant{I18},
		},
		"boxes that cost something else": {
			how: func(t *testing.T, w *world) {
				w.after(30*day, func() {
					_, err := w.books.ExecContext(t.Context(), "UPDATE bundles SET settings = replace(settings, '\"Percent\":7', '\"Percent\":8')")
					w.check(err)
					_, err = w.books.ExecContext(t.Context(), "UPDATE shops SET catalogue = catalogue + 1")
					w.check(err)
				})
			},
			on: boxed,
			by: []Invariant{I19},
		},
		"an entry that is altered": {
			how: func(t *testing.T, w *world) {
				w.after(45*day, func() {
					_, err := w.books.ExecContext(t.Context(), "UPDATE activity SET info = '{}'")
					w.check(err)
				})
			},
			by: []Invariant{I7},
		},
		"a contract that the story did not create": {
			how: func(t *testing.T, w *world) {
				w.after(30*day, func() {
					spec := w.plan.Deals[0].Spec
					spec.Customer.Email = "nobody@example.com"
					spec.Lines = []simulator.LineSpec{{VariantID: w.shops[w.plan.Deals[0].Shop].variants[0]}}
					spec.CreatedAt, spec.NextBillingDate = w.now, w.now.Add(100*day)
					_, err := w.sim.Checkout(spec)
					w.check(err)
				})
			},
			by: []Invariant{I5, I10},
		},
		"tasks that no worker takes": {
			how: func(t *testing.T, w *world) {
				w.at(w.plan.Start.Add(20*day), func() {
					_, err := w.books.ExecContext(t.Context(), "UPDATE attempts SET due_at = NULL WHERE status = 'QUEUED'")
					w.check(err)
				})
			},
			by: []Invariant{I2},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := bare(17)
			p.Rates = broken.rates
			for i := range p.Deals {
				p.Deals[i].Offer = cmp.Or(broken.on, p.Deals[i].Offer)
			}
			w := lived(t, p, "", func(w *world) { broken.how(t, w) })
			if len(w.violations) == 0 || !slices.Contains(broken.by, w.violations[0].Is) {
				t.Errorf("want %v to fail first, got %v", broken.by, w.violations)
			}
		})
	}
}

func TestFailurePrintsCommandToRepeat(t *testing.T) {
	t.Parallel()
	o := Options{Seed: 7, Nodes: 2}
	for _, row := range []struct {
		name    string
		v       violation
		without []Kind
		want    string
	}{
		{"seen in a step", violation{Is: I1, Step: 42}, nil, "perennial prove --seed 7 --world 3 --nodes 2 --upto 42"},
		{"seen when all was looked at", violation{Is: I2, Step: 42, Whole: true}, []Kind{Death, ClockJump}, "perennial prove --seed 7 --world 3 --nodes 2 --without death,clock_jump"},
	} {
		l := Life{Number: 3, tally: tally{violations: []violation{row.v}}}
		if got := o.repetition(l, row.without); got != row.want {
			t.Errorf("%s: %s, want %s", row.name, got, row.want)
		}
	}
}

func TestRunWithTooFewEventsIsVoid(t *testing.T) {
	t.Parallel()
	full := func() *Proof {
		p := &Proof{Options: Options{Renewals: 10, Faults: 5}, Worlds: []Life{{Renewals: 10, On: []Kind{Death}, tally: newTally()}}}
		p.Worlds[0].counts[Death] = 5
		for _, d := range deeds {
			p.Worlds[0].done[d] = 1
		}
		for _, i := range Invariants {
			p.Worlds[0].checks[i.Is] = 1
		}
		return p
	}
	if err := full().void(); err != nil {
		t.Errorf("a run that did all it was to do: %v", err)
	}
	for name, take := range map[string]func(*Proof){
		"a fault that was on and never happened": func(p *Proof) { p.Worlds[0].On = append(p.Worlds[0].On, ClockSkew) },
		"too few renewals":                       func(p *Proof) { p.Options.Renewals++ },
		"too few faults":                         func(p *Proof) { p.Options.Faults++ },
		"an act that never succeeded":            func(p *Proof) { p.Worlds[0].done[splitIt] = 0 },
		"an invariant that was never checked":    func(p *Proof) { p.Worlds[0].checks[I3] = 0 },
	} {
		p := full()
		take(p)
		if err := p.void(); !errors.Is(err, ErrVoid) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestWorldCanBeStoppedAtStep(t *testing.T) {
	t.Parallel()
	p := drawPlan(18, 1, tiny)
	p.UpTo = 3000
	if w := lived(t, p, ""); w.steps != 3000 || w.err != nil {
		t.Errorf("%d steps, %v", w.steps, w.err)
	}
}
