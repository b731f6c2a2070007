package prove

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers with which the checker looks into the database
	_ "modernc.org/sqlite"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/base/task"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

// world is one run of the service: a platform, a database and some nodes, the
// story of what people do, and what goes wrong meanwhile.
type world struct {
	kernel
	plan    plan
	sim     *simulator.Simulator
	handler http.Handler
	root    *store.DB
	books   *sql.DB // the checker's own way into the database
	folder  string
	tamper  func(c *call) // changes calls, to see whether a broken service is caught; nil: none does
	clean   func()        // of what the database leaves
	ended   func() error  // says whether the run was called off

	shops   []*merchant
	byToken map[string]*merchant
	deals   []*deal
	byID    map[int64]*deal
	nodes   []*node
	queue   []task.Task // that wait to be carried out

	agendaAt time.Time // of the event that lets the platform do what is due; zero: none
	sweepAt  time.Time // of the next sweep; zero: none
	stirred  bool      // what is due next is about to be looked up

	whole  bool      // the whole database is being looked at
	calm   bool      // no faults any more
	out    time.Time // until when the platform cannot be reached
	lossy  bool      // what it sends meanwhile is lost
	silent time.Time // until when no webhook arrives
	away   time.Time // until when the database cannot be reached

	// What happened, by the platform's word.
	orders map[cycleKey]*order
	tries  map[cycleKey][]time.Time // when charges began
	ends   map[cycleKey][]simulator.Charge
	fresh  []simulator.Charge // of the call that is being answered
	logged map[entryKey]uint64

	tally
	err error
}

// tally counts what happened in a world.
type tally struct {
	counts                                      map[Kind]int
	checks                                      map[Invariant]int
	violations                                  []violation
	due, doubled, missed, unexplained           int
	calls, webhooks, deaths, failed, tasksTaken int
	acted, refused                              int
}

// merchant is a store.
type merchant struct {
	plan      shopPlan
	number    int
	id        shop.ID
	zone      *time.Location
	variants  []int64
	installed int  // how often the app came back
	gone      bool // the app is not installed
	connected bool
}

// newWorld makes everything that a plan says, before time begins to pass.
func newWorld(p plan, database string) (*world, error) {
	w := &world{
		kernel: newKernel(p.Seed, 1, p.Start), plan: p, byToken: make(map[string]*merchant), byID: make(map[int64]*deal), deals: make([]*deal, len(p.Deals)),
		orders: make(map[cycleKey]*order), tries: make(map[cycleKey][]time.Time), ends: make(map[cycleKey][]simulator.Charge),
		tally: tally{counts: make(map[Kind]int), checks: make(map[Invariant]int)},
	}
	for _, step := range []func() error{w.openPlatform, func() error { return w.openDatabase(database) }, w.open} {
		if err := step(); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

func (w *world) openPlatform() (err error) {
	w.sim, err = simulator.New(simulator.Options{
		Clock: w, ThrottleClock: w, AppSecret: appSecret, CostMaximum: 1e9, CostRestore: 1e9, Deliver: inbox{w}, Watch: w.watch,
		Switches: w.plan.Switches,
	})
	if err != nil {
		return err
	}
	w.handler = w.sim.Handler()
	for i, s := range w.plan.Shops {
		if err := w.found(i, s); err != nil {
			return fmt.Errorf("open %s: %w", s.Domain, err)
		}
	}
	return nil
}

// Now is the true time, which is the platform's.
func (w *world) Now() time.Time { return w.now }

// found makes a store.
func (w *world) found(i int, p shopPlan) error {
	zone, err := time.LoadLocation(p.Zone)
	if err != nil {
		return err
	}
	s := &merchant{plan: p, number: i, zone: zone}
	w.shops, w.byToken[p.token(0)] = append(w.shops, s), s
	if err := w.sim.AddShop(simulator.ShopSpec{Domain: p.Domain, Token: p.token(0), TimeZone: p.Zone, Currency: p.Currency}); err != nil {
		return err
	}
	product := simulator.ProductSpec{Shop: p.Domain, Title: "Coffee"}
	for n, price := range p.Prices {
		product.Variants = append(product.Variants, simulator.VariantSpec{Title: fmt.Sprintf("Bag %d", n), Price: price})
	}
	variants, err := w.sim.AddProduct(product)
	for _, v := range variants {
		s.variants = append(s.variants, v.ID)
	}
	return err
}

// openDatabase opens an empty database and brings it up to date.
func (w *world) openDatabase(at string) error {
	ctx := context.Background()
	driver, name := "sqlite", ""
	var err error
	if strings.HasPrefix(at, "postgres") {
		if at, err = w.schema(ctx, at); err != nil {
			return fmt.Errorf("make a schema: %w", err)
		}
		driver, name = "pgx", at
	} else {
		if w.folder, err = os.MkdirTemp(scratch(), "perennial-prove-"); err != nil {
			return err
		}
		at = filepath.Join(w.folder, "perennial.db")
		name = "file:" + at + "?_pragma=busy_timeout(10000)"
	}
	if w.root, err = store.Open(ctx, store.Options{URL: at, SecretKey: make([]byte, 32), Relaxed: true}); err != nil {
		return err
	}
	if err := w.root.Migrate(ctx); err != nil {
		return err
	}
	if err := w.root.Claim(ctx, app.Sandbox); err != nil {
		return err
	}
	w.books, err = sql.Open(driver, name)
	return err
}

// schema makes an empty schema in a PostgreSQL database, which goes when the world
// ends, and returns the address at which it is all that is seen.
func (w *world) schema(ctx context.Context, at string) (string, error) {
	db, err := sql.Open("pgx", at)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("perennial_prove_%s", strings.ToLower(rand.Text()))
	if _, err := db.ExecContext(ctx, "CREATE SCHEMA "+name); err != nil {
		return "", errors.Join(err, db.Close())
	}
	w.clean = func() {
		_, _ = db.ExecContext(context.Background(), "DROP SCHEMA "+name+" CASCADE")
		_ = db.Close()
	}
	u, err := url.Parse(at)
	if err != nil {
		return "", err
	}
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String(), nil
}

// scratch is a folder in memory where there is one.
func scratch() string {
	const memory = "/dev/shm"
	if s, err := os.Stat(memory); err == nil && s.IsDir() {
		return memory
	}
	return ""
}

// open starts the nodes, tells the story so far and connects the stores.
func (w *world) open() error {
	w.calm = true // nothing fails before it has begun
	for i := range w.plan.Nodes {
		n := &node{w: w, id: i}
		w.nodes = append(w.nodes, n)
		if err := n.start(); err != nil {
			return err
		}
	}
	w.tell()
	for _, s := range w.shops {
		known, err := w.nodes[0].app.Intake.Connect(context.Background(), platform.Shop{Domain: s.plan.Domain, Token: platform.Token(s.plan.token(0))}, s.plan.Hour, s.plan.Minute,
			shop.Settings{ImmediateOrders: true})
		if err != nil {
			return fmt.Errorf("connect %s: %w", s.plan.Domain, err)
		}
		s.id, s.connected = known.ID, true
	}
	w.calm = false
	w.brew()
	return w.err
}

func (w *world) close() {
	for _, n := range w.nodes {
		if n.app != nil {
			n.die()
		}
	}
	if w.books != nil {
		_ = w.books.Close()
	}
	if w.root != nil {
		_ = w.root.Close()
	}
	if w.sim != nil {
		_ = w.sim.Close()
	}
	if w.folder != "" {
		_ = os.RemoveAll(w.folder)
	}
	if w.clean != nil {
		w.clean()
	}
}

// tendEvery is the time between two looks at charges without an end, and checkEvery,
// a multiple of it, between two at the whole database.
const (
	tendEvery  = 5 * day
	checkEvery = 30 * day
)

// live lets the whole of a world's time pass and checks it. The error says what
// is wrong.
func (w *world) live(ctx context.Context) error {
	w.ended = ctx.Err
	storm := w.plan.Start.Add(w.plan.Lasts)
	for at := w.plan.Start.Add(tendEvery); at.Before(storm); at = at.Add(tendEvery) {
		if err := w.pass(at); err != nil {
			return err
		}
		if w.stopped() {
			return nil
		}
		w.endCharges(w.now.Add(-longestCharge))
		if at.Sub(w.plan.Start)%checkEvery != 0 {
			continue
		}
		if err := w.checkpoint(); err != nil || w.err != nil {
			return errors.Join(w.err, err)
		}
	}
	if err := w.pass(storm); err != nil || w.stopped() {
		return err
	}
	w.soothe()
	w.endCharges(w.now)
	for _, s := range w.shops {
		if s.gone || !s.connected {
			w.install(s)
		}
	}
	for at := storm; at.Before(storm.Add(w.plan.Calm)); {
		at = at.Add(6 * time.Hour)
		if err := w.pass(at); err != nil || w.stopped() {
			return err
		}
		w.endCharges(w.now)
	}
	if err := w.pass(storm.Add(w.plan.Calm + 6*time.Hour)); err != nil || w.stopped() {
		return err
	}
	err := w.finish()
	return errors.Join(w.err, err)
}

// stopped reports whether the world was told to go no further.
func (w *world) stopped() bool { return w.plan.UpTo != 0 && w.steps >= w.plan.UpTo }

// lookEvery is after how many steps a world looks whether it is still wanted.
const lookEvery = 1000

// pass lets time pass until an instant.
func (w *world) pass(until time.Time) error {
	for w.err == nil && !w.stopped() && w.next(until) {
		if w.steps%lookEvery == 0 {
			w.check(w.ended())
		}
	}
	return w.err
}

// longestCharge is how long a charge stays without an end that has none by itself:
// somebody gives up, at the customer's bank or at the platform.
const longestCharge = 4 * day

// endCharges ends the charges since before an instant that the platform would never
// end by itself.
func (w *world) endCharges(before time.Time) {
	for _, d := range w.dealsInOrder() {
		is, err := w.sim.Contract(d.id)
		if err != nil {
			w.fail(err)
			return
		}
		for _, a := range is.Attempts {
			if (a.State == "PENDING" || a.State == "CHALLENGED") && !a.CreatedAt.After(before) {
				if err := w.sim.FinishAttempt(a.ID, d.plan.Finish); err != nil {
					w.note("finish", err.Error())
				}
			}
		}
	}
	w.platformDue()
}

// resume lets a fiber go on, unless its process dies or stands still.
func (w *world) resume(f *fiber) {
	if f.ended {
		return
	}
	n := f.node
	if n.paused.After(w.now) {
		w.at(n.paused, func() { w.resume(f) })
		return
	}
	if w.mayDie(f) {
		return
	}
	w.note("run", n.String(), f.name)
	wait, more := w.run(f)
	if more {
		w.after(wait, func() { w.resume(f) })
		return
	}
	if i := slices.Index(n.fibers, f); i >= 0 {
		n.fibers = slices.Delete(n.fibers, i, i+1)
	}
	w.stir()
}

// anyNode returns a node that can begin something, or nil.
func (w *world) anyNode() *node {
	from := w.chance.IntN(len(w.nodes))
	for i := range w.nodes {
		if n := w.nodes[(from+i)%len(w.nodes)]; n.able() {
			return n
		}
	}
	return nil
}

// dispatch has a waiting task taken up soon.
func (w *world) dispatch() {
	if len(w.queue) == 0 {
		return
	}
	w.after(w.between(time.Millisecond, w.plan.Slack), func() {
		n := w.anyNode()
		if n == nil || len(w.queue) == 0 {
			return // whoever starts looks for tasks
		}
		i := w.chance.IntN(len(w.queue))
		t := w.queue[i]
		w.queue = slices.Delete(w.queue, i, i+1)
		w.work(n, t)
		if w.hit(TaskTwice) {
			w.work(w.anyNode(), t)
		}
		w.dispatch()
	})
}

// work has a node carry out a task. One that fails is tried again later.
func (w *world) work(n *node, t task.Task) {
	w.tasksTaken++
	n.spawn(t.Kind(), func(ctx context.Context, a *app.App) {
		err := a.Do(ctx, t)
		if err == nil {
			return
		}
		w.failed++
		w.note("failed", t.Kind(), err.Error())
		w.after(w.between(10*time.Second, 20*time.Second), func() {
			if !slices.Contains(w.queue, t) {
				w.queue = append(w.queue, t)
			}
			w.dispatch()
		})
	})
}

// platformDue has the platform do what it has to do when that is due.
func (w *world) platformDue() {
	due, some := w.sim.NextDue()
	if !some || !w.agendaAt.IsZero() && !due.Before(w.agendaAt) {
		return
	}
	if due.Before(w.now) {
		due = w.now
	}
	w.agendaAt = due
	w.at(due, func() {
		if !w.agendaAt.Equal(due) {
			return // an earlier one came first
		}
		w.agendaAt = time.Time{}
		_, err := w.sim.RunDue(context.Background())
		w.check(err)
		w.platformDue()
		w.stir()
	})
}

// sweepEvery is the time from what a node did to the next look at what is due.
const sweepEvery = 20 * time.Second

// stir has what is due next looked up, and swept when it is due by the clock of
// the node that sweeps.
func (w *world) stir() {
	if w.stirred {
		return
	}
	w.stirred = true
	w.after(sweepEvery, func() {
		w.stirred = false
		n := w.anyNode()
		if n == nil || w.away.After(w.now) {
			w.after(time.Minute, w.stir)
			return
		}
		due, some, err := w.root.Shops().NextDue(context.Background(), w.now.Add(n.skew))
		w.check(err)
		if err != nil || !some {
			return
		}
		due = due.Add(-n.skew)
		if due.Before(w.now) {
			due = w.now
		}
		if !w.sweepAt.IsZero() && !due.Before(w.sweepAt) {
			return
		}
		w.sweepAt = due
		w.at(due, func() {
			if !w.sweepAt.Equal(due) {
				return
			}
			w.sweepAt = time.Time{}
			all := w.hit(SweepAtOnce)
			for _, other := range w.nodes {
				if other == n || all {
					w.sweepOn(other)
				}
			}
			w.stir()
		})
	})
}

// sweepOn lets a node look for what is due.
func (w *world) sweepOn(n *node) {
	if !n.able() || w.away.After(w.now) {
		w.stir()
		return
	}
	n.spawn("sweep", func(ctx context.Context, a *app.App) {
		if _, err := a.Sweep.Once(ctx); err != nil {
			w.failed++
			w.note("failed", "sweep", err.Error())
		}
	})
}

// fail ends the world: what it found is wrong.
func (w *world) fail(err error) {
	if w.err == nil {
		w.err = err
	}
}
