package prove

import (
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/http"
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

// world is one run of the service: a platform, a database and some nodes.
type world struct {
	kernel
	plan    plan
	sim     *simulator.Simulator
	handler http.Handler
	root    *store.DB
	books   *sql.DB // the checker's own way into the database
	nodes   []*node
	queue   []task.Task
	shops   map[string]*merchant

	agendaAt time.Time // of the event that lets the platform do what is due; zero: none
	sweepAt  time.Time // of the next sweep; zero: none
	stirred  bool      // what is due next is about to be looked up
	lastTold time.Time

	mailed   map[string]int // letters by id
	calls    int            // to the platform
	webhooks int
	deaths   int
	failed   int // tasks that ended in an error
	err      error
}

// merchant is a store.
type merchant struct {
	spec shopPlan
	id   shop.ID
	zone *time.Location
}

// newWorld makes everything that a seed says of a world, before its time begins
// to pass.
func newWorld(p plan, database, folder string) (*world, error) {
	w := &world{kernel: newKernel(p.Seed, 1, p.Start), plan: p, shops: make(map[string]*merchant), mailed: make(map[string]int)}
	if err := w.openPlatform(); err != nil {
		return nil, err
	}
	if err := w.openDatabase(database, folder); err != nil {
		return nil, err
	}
	for i := range p.Nodes {
		n := &node{w: w, id: i}
		w.nodes = append(w.nodes, n)
		if err := n.start(); err != nil {
			return nil, err
		}
	}
	return w, w.connect()
}

func (w *world) openPlatform() (err error) {
	w.sim, err = simulator.New(simulator.Options{
		Clock: w, ThrottleClock: w, AppSecret: appSecret, CostMaximum: 1e9, CostRestore: 1e9, Deliver: inbox{w},
		Switches: w.plan.Switches,
	})
	if err != nil {
		return err
	}
	w.handler = w.sim.Handler()
	for _, s := range w.plan.Shops {
		if err := w.open(s); err != nil {
			return fmt.Errorf("open %s: %w", s.Domain, err)
		}
	}
	return nil
}

// Now is the true time, which is the platform's.
func (w *world) Now() time.Time { return w.now }

func (w *world) open(s shopPlan) error {
	zone, err := time.LoadLocation(s.Zone)
	if err != nil {
		return err
	}
	w.shops[s.Domain] = &merchant{spec: s, zone: zone}
	if err := w.sim.AddShop(simulator.ShopSpec{
		Domain: s.Domain, Token: s.token(), TimeZone: s.Zone, Currency: s.Currency,
		FirstContract: s.First, FirstCustomer: s.First, FirstOrder: s.First, FirstVariant: s.First, FirstProduct: s.First,
	}); err != nil {
		return err
	}
	product := simulator.ProductSpec{Shop: s.Domain, Title: "Coffee"}
	for i, price := range s.Prices {
		product.Variants = append(product.Variants, simulator.VariantSpec{Title: fmt.Sprintf("Bag %d", i), Price: price})
	}
	_, err = w.sim.AddProduct(product)
	return err
}

// openDatabase opens a database, empty, and brings it up to date.
func (w *world) openDatabase(url, folder string) error {
	driver, name := "pgx", url
	if !strings.HasPrefix(url, "postgres") {
		url = filepath.Join(folder, fmt.Sprintf("world-%d.db", w.plan.Number))
		driver, name = "sqlite", "file:"+url+"?_pragma=busy_timeout(10000)&_pragma=query_only(1)"
	}
	ctx := context.Background()
	var err error
	if w.root, err = store.Open(ctx, store.Options{URL: url, SecretKey: make([]byte, 32), Relaxed: true}); err != nil {
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

func (w *world) close() {
	for _, n := range w.nodes {
		n.die()
	}
	if w.books != nil {
		_ = w.books.Close()
	}
	if w.root != nil {
		_ = w.root.Close()
	}
	_ = w.sim.Close()
	files, _ := filepath.Glob(filepath.Join(os.TempDir(), "none"))
	_ = files
}

// connect makes the stores known to the service.
func (w *world) connect() error {
	for _, s := range w.plan.Shops {
		known, err := w.nodes[0].app.Intake.Connect(context.Background(), platform.Shop{Domain: s.Domain, Token: platform.Token(s.token())}, s.Hour, s.Minute,
			shop.Settings{ImmediateOrders: true})
		if err != nil {
			return fmt.Errorf("connect %s: %w", s.Domain, err)
		}
		w.shops[s.Domain].id = known.ID
	}
	return nil
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
	w.after(w.between(time.Millisecond, 50*time.Millisecond), func() {
		n := w.anyNode()
		if n == nil || len(w.queue) == 0 {
			return // whoever starts looks for tasks
		}
		i := w.chance.IntN(len(w.queue))
		t := w.queue[i]
		w.queue = slices.Delete(w.queue, i, i+1)
		w.work(n, t)
		w.dispatch()
	})
}

// work has a node carry out a task. One that fails is tried again later.
func (w *world) work(n *node, t task.Task) {
	n.spawn(t.Kind(), func(ctx context.Context, a *app.App) {
		if err := a.Do(ctx, t); err != nil {
			w.failed++
			w.note("failed", t.Kind(), err.Error())
			w.after(w.between(10*time.Second, 20*time.Second), func() {
				if !slices.Contains(w.queue, t) {
					w.queue = append(w.queue, t)
				}
				w.dispatch()
			})
		}
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
		if _, err := w.sim.RunDue(context.Background()); err != nil {
			w.fail(fmt.Errorf("the platform: %w", err))
		}
		w.platformDue()
		w.stir()
	})
}

// sweepEvery is the shortest time between two sweeps.
const sweepEvery = 10 * time.Second

// stir has what is due next looked up, and swept when it is due.
func (w *world) stir() {
	if w.stirred {
		return
	}
	w.stirred = true
	w.after(sweepEvery, func() {
		w.stirred = false
		due, some, err := w.root.Shops().NextDue(context.Background())
		if err != nil {
			w.fail(err)
			return
		}
		if !some {
			return
		}
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
			w.sweep()
		})
	})
}

func (w *world) sweep() {
	n := w.anyNode()
	if n == nil {
		return // whoever starts sweeps
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

// pass lets time pass until an instant.
func (w *world) pass(until time.Time) error {
	for w.err == nil && (w.plan.UpTo == 0 || w.steps < w.plan.UpTo) && w.next(until) {
	}
	return w.err
}

var _ = slog.Default
