package prove

import (
	"context"
	"crypto/rand"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the drivers with which the checker looks into the database
	_ "modernc.org/sqlite"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/store"
)

// newWorld makes everything that a plan says, before time begins to pass.
func newWorld(p plan, database string) (*world, error) {
	w := blank(newKernel(p.Seed, 1, p.Start), p)
	for _, step := range []func() error{w.openPlatform, func() error { return w.openDatabase(database) }, w.open} {
		if err := step(); err != nil {
			w.close()
			return nil, err
		}
	}
	return w, nil
}

// blank returns a world in which nothing is yet.
func blank(k *kernel, p plan) *world {
	return &world{
		kernel: k, plan: p, public: publicURL, byToken: make(map[string]*merchant), byID: make(map[int64]*deal), deals: make([]*deal, len(p.Deals)),
		orders: make(map[cycleKey]*order), tries: make(map[cycleKey][]time.Time), ends: make(map[cycleKey][]simulator.Charge),
		over:  make(map[int64]time.Time),
		tally: newTally(),
	}
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
	_, file, err := store.SQLitePath(at)
	if err != nil {
		return err
	}
	if !file {
		if at, err = w.schema(ctx, at); err != nil {
			return fmt.Errorf("make a schema: %w", err)
		}
		driver, name = "pgx", at+"&perennial.scope=all" // books of every store
	} else {
		if w.folder, err = os.MkdirTemp(scratch(), "perennial-prove-"); err != nil {
			return err
		}
		at = filepath.Join(w.folder, "perennial.db")
		name = "file:" + at + "?_pragma=busy_timeout(10000)"
	}
	if w.root, err = store.Open(ctx, store.Options{URL: at, SecretKey: make([]byte, 32), Create: true, Relaxed: true, Subscribers: app.Subscribers()}); err != nil {
		return err
	}
	if err := w.root.Migrate(ctx); err != nil {
		return err
	}
	if err := w.root.Claim(ctx, app.Sandbox); err != nil {
		return err
	}
	if w.books, err = sql.Open(driver, name); err != nil {
		return err
	}
	w.intent, err = w.books.PrepareContext(ctx, `SELECT a.status, a.key, a.first_sent_at, c.status, c.paused_at, c.cancelled_at FROM attempts a
		JOIN contracts c ON c.shop_id = a.shop_id AND c.id = a.contract_id WHERE a.shop_id = $1 AND a.contract_id = $2 AND a.cycle = $3`)
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
		if err := w.connect(s, s.plan.token(0)); err != nil {
			return err
		}
		if err := w.sell(s); err != nil {
			return err
		}
	}
	w.calm = false
	w.brew()
	return w.err
}

// connect has the first node connect a store, whose merchant confirms it.
func (w *world) connect(s *merchant, token string) error {
	a, ctx := w.nodes[0].app, context.Background()
	known, err := a.Intake.Connect(ctx, platform.Shop{Domain: s.plan.Domain, Token: platform.Token(token)}, s.plan.Hour, s.plan.Minute, s.plan.Settings)
	if err != nil {
		return fmt.Errorf("connect %s: %w", s.plan.Domain, err)
	}
	if _, err := a.Confirm.ConfirmUnseen(ctx, known.ID, activity.Operator); err != nil {
		return fmt.Errorf("confirm %s: %w", s.plan.Domain, err)
	}
	s.id, s.connected = known.ID, true
	return nil
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
