package prove

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/app"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/mover"
	"github.com/perennialhq/perennial/internal/platform/simulator"
	"github.com/perennialhq/perennial/internal/prove/oracle"
)

// pair is one run of two services as two apps of the same stores: contracts move from one to the
// other and back, while the platform, the services and the way between them fail.
type pair struct {
	*kernel
	plan  plan
	sim   *simulator.Simulator
	sides [2]*world // contracts begin at the first
	ended func() error

	subscribers map[string]*subscriber // by e-mail address
	byContract  map[int64]*subscriber
	fresh       []simulator.Charge // that were seen and not checked yet
	legs        []*leg             // of each store, the present one
	tally

	moveTally
	err error
}

// moveTally counts what moves came to.
type moveTally struct {
	moves    int           // that came to their end
	moved    int           // contracts, as often as each was
	requests int           // between the services
	late     int           // orders that were made more than an hour late, by a move
	latest   time.Duration // the longest of all delays
}

// subscriber is a customer with one subscription, wherever its contract is.
type subscriber struct {
	plan dealPlan
	shop *merchant // as the first service knows it
	due  []time.Time
	sale oracle.Sale
	// shift is the longest delay of an order by a move. Those after one that fell due before its contract
	// was made where it went count from the day on which it was made.
	shift  time.Duration
	orders []simulator.Renewal
}

// leg is a store's way from one service to the other.
type leg struct {
	from  int // the side that is left
	move  moving.ID
	by    int       // the side that carries out the move
	next  time.Time // when the next step is taken
	waved time.Time // when everything was let go; zero: it was not
	spans []span    // in which contracts may have been between the services
}

// clients are the client ids of both apps, and publics where their services are.
var (
	clients = [2]string{"left", "right"}
	publics = [2]string{"https://left.example.com", "https://right.example.com"}
)

// newPair makes everything that a plan says, before time begins to pass.
func newPair(p plan, database string) (*pair, error) {
	if database != "" {
		return nil, errors.New("moves are proven on SQLite")
	}
	r := &pair{
		kernel: newKernel(p.Seed, 1, p.Start), plan: p, subscribers: map[string]*subscriber{}, byContract: map[int64]*subscriber{}, tally: newTally(),
	}
	for i := range r.sides {
		w := blank(r.kernel, p)
		w.name, w.public, w.pair, w.tally, w.calm = clients[i], publics[i], r, r.tally, true
		w.plan.Deals = nil
		w.deals = nil
		r.sides[i] = w
	}
	for _, step := range []func() error{r.openPlatform, r.openSides, r.sign} {
		if err := step(); err != nil {
			r.close()
			return nil, err
		}
	}
	for _, w := range r.sides {
		w.calm = false
		w.brew()
	}
	return r, nil
}

func (r *pair) close() {
	for _, w := range r.sides {
		w.sim = nil
		w.close()
	}
	if r.sim != nil {
		_ = r.sim.Close()
	}
}

// Now is the true time.
func (r *pair) Now() time.Time { return r.now }

func (r *pair) openPlatform() (err error) {
	r.sim, err = simulator.New(simulator.Options{
		Clock: r, ThrottleClock: r, AppSecret: appSecret, CostMaximum: 1e9, CostRestore: 1e9, Deliver: pairInbox{r}, Switches: r.plan.Switches,
		Watch: func(c simulator.Charge) { r.fresh = append(r.fresh, c) },
	})
	if err != nil {
		return err
	}
	r.sim.SetApp(simulator.AppSettings{ClientID: clients[0], OwnContracts: true})
	r.sim.AddApp(simulator.AppSettings{ClientID: clients[1], Secret: appSecret, OwnContracts: true})
	handler := r.sim.Handler()
	for _, w := range r.sides {
		w.sim, w.handler = r.sim, handler
	}
	for i, s := range r.plan.Shops {
		if err := r.sides[0].found(i, s); err != nil {
			return fmt.Errorf("open %s: %w", s.Domain, err)
		}
		first := r.sides[0].shops[i]
		token := s.token(1)
		if err := r.sim.InstallApp(s.Domain, clients[1], token); err != nil {
			return err
		}
		second := &merchant{plan: s, number: i, zone: first.zone, variants: first.variants}
		r.sides[1].shops, r.sides[1].byToken[token] = append(r.sides[1].shops, second), second
		r.legs = append(r.legs, &leg{next: r.plan.Start.Add(day + r.between(0, day))})
	}
	return nil
}

// openSides starts both services and connects the stores.
func (r *pair) openSides() error {
	for i, w := range r.sides {
		if err := w.openDatabase(""); err != nil {
			return err
		}
		for n := range w.plan.Nodes {
			n := &node{w: w, id: n}
			w.nodes = append(w.nodes, n)
			if err := n.start(); err != nil {
				return err
			}
		}
		if i == 0 {
			if err := r.checkout(); err != nil {
				return err
			}
		}
		for _, s := range w.shops {
			if err := w.connect(s, s.plan.token(i)); err != nil {
				return err
			}
		}
		if i == 0 {
			if err := r.agree(); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkout lets every buyer make a contract of the first app.
func (r *pair) checkout() error {
	for _, d := range r.plan.Deals {
		s := r.sides[0].shops[d.Shop]
		spec := d.Spec
		spec.App = clients[0]
		spec.Lines = slices.Clone(spec.Lines)
		spec.Lines[0].VariantID = s.variants[d.Variant]
		if d.Second {
			spec.Lines = append(spec.Lines, simulator.LineSpec{VariantID: s.variants[(d.Variant+1)%len(s.variants)], Quantity: 1})
		}
		var err error
		if spec.DiscountCodes, err = d.Terms.codes(r.sim, spec.Shop); err != nil {
			return err
		}
		made, err := r.sim.Checkout(spec)
		if err != nil {
			return fmt.Errorf("the story's checkout: %w", err)
		}
		sub := &subscriber{plan: d, shop: s, sale: r.sale(d)}
		r.subscribers[spec.Customer.Email], r.byContract[made.Contract] = sub, sub
		r.note("checkout", fmt.Sprint(made.Contract))
	}
	r.sides[0].platformDue()
	return nil
}

// sign computes what each customer is owed.
func (r *pair) sign() error {
	end := r.plan.Start.Add(r.plan.Lasts + 2*r.plan.Calm)
	for _, email := range sorted(r.subscribers) {
		s := r.subscribers[email]
		policy := policyOf(s.plan.Spec.Billing)
		s.due = oracle.Owed(policy, s.plan.Spec.NextBillingDate, end, s.shop.calendar())
		if most := policy.MaxCycles; most > 0 {
			if r.plan.Switches.OriginOrderBillsFirstCycle {
				most--
			}
			s.due = s.due[:min(most, len(s.due))]
		}
	}
	return nil
}

// at returns the service of a host.
func (r *pair) at(host string) *world {
	for i, p := range publics {
		if p == "https://"+host {
			return r.sides[i]
		}
	}
	panic("no service is at " + host)
}

// pairInbox is the way from the platform to both services.
type pairInbox struct{ r *pair }

// RoundTrip delivers one webhook to the service that it is for.
func (i pairInbox) RoundTrip(r *http.Request) (*http.Response, error) {
	return inbox{i.r.at(r.URL.Host)}.RoundTrip(r)
}

// live lets the whole of the time pass and checks it.
func (r *pair) live(ctx context.Context) error {
	r.ended = ctx.Err
	storm := r.plan.Start.Add(r.plan.Lasts)
	for i := range r.legs {
		r.steer(i)
	}
	if err := r.pass(storm); err != nil || r.stopped() {
		return err
	}
	for _, w := range r.sides {
		w.soothe()
	}
	if err := r.pass(storm.Add(r.plan.Calm)); err != nil || r.stopped() {
		return err
	}
	r.finish()
	return r.err
}

func (r *pair) stopped() bool { return r.plan.UpTo != 0 && r.steps >= r.plan.UpTo }

func (r *pair) pass(until time.Time) error {
	for r.err == nil && !r.stopped() && r.next(until) {
		for _, w := range r.sides {
			if w.err != nil {
				r.err = fmt.Errorf("the %s service: %w", w.name, w.err)
			}
		}
		if len(r.fresh) > 0 {
			fresh := r.fresh
			r.fresh = nil
			for _, c := range fresh {
				r.charged(c)
			}
		}
		if r.steps%lookEvery == 0 && r.err == nil {
			r.err = r.ended()
		}
	}
	return r.err
}

// How a store is steered from one service to the other.
const (
	steerEvery = 3 * time.Hour
	firstWave  = 10                  // percent
	betweenTwo = 12 * time.Hour      // from one wave to the next
	longestLeg = 12 * 24 * time.Hour // after which a move ends with what has arrived
)

// steer has the next step of a store's way taken now and then.
func (r *pair) steer(i int) {
	l := r.legs[i]
	r.after(steerEvery, func() {
		if n := r.sides[l.by].anyNode(); n != nil && !r.now.Before(l.next) {
			n.spawn("steer", func(ctx context.Context, a *app.App) {
				if err := r.step(ctx, a, l, i); err != nil {
					r.note("refused", "steer", err.Error())
				}
			})
		}
		r.steer(i)
	})
}

// step takes the next step of a store's way.
func (r *pair) step(ctx context.Context, a *app.App, l *leg, i int) error {
	by := r.sides[l.by]
	of := by.shops[i].id
	if l.move == 0 {
		return r.depart(ctx, a, l, i)
	}
	p, err := a.Moves.Progress(ctx, of, l.move)
	if err != nil {
		return err
	}
	switch {
	case p.Move.Status != moving.Ready:
		return nil
	case p.Move.Wave == 0:
		l.next = r.now.Add(betweenTwo)
		l.spans = append(l.spans, span{r.now, r.now.Add(r.plan.Lasts)})
		_, err = a.Moves.SetWave(ctx, of, l.move, activity.Operator, firstWave)
	case p.Move.Wave < 100:
		if _, err = a.Moves.SetWave(ctx, of, l.move, activity.Operator, 100); err == nil {
			l.waved = r.now
		}
	case p.Between == 0 && (p.Stages[moving.Shadow]+p.Stages[moving.Chosen] == 0 || r.now.Sub(l.waved) > longestLeg):
		return r.arrive(ctx, a, l, i, p)
	}
	return err
}

// depart starts a move, unless the world is about to end.
func (r *pair) depart(ctx context.Context, a *app.App, l *leg, i int) error {
	if r.now.After(r.plan.Start.Add(r.plan.Lasts - longestLeg)) {
		return nil
	}
	direction := moving.Out
	if l.by != l.from {
		direction = moving.In
	}
	m, err := a.Moves.Start(ctx, r.sides[l.by].shops[i].id, mover.New{
		Direction: direction, Peer: moving.Peer{Address: publics[1-l.by], Key: keyOf(r.plan.Shops[i].Domain), Rate: 1000}, By: activity.Operator,
	})
	if err != nil { // it may have been started, and the answer was lost
		if open, failed := a.Moves.Moves(ctx, r.sides[l.by].shops[i].id); failed == nil && len(open) > 0 && open[0].Open() {
			m, err = open[0], nil
		}
	}
	l.move = m.ID
	r.note("move", string(direction), r.sides[l.by].name)
	return err
}

// arrive ends a move. The next one goes back.
func (r *pair) arrive(ctx context.Context, a *app.App, l *leg, i int, p mover.Progress) error {
	if p.Move.Open() {
		if _, err := a.Moves.End(ctx, r.sides[l.by].shops[i].id, l.move, activity.Operator); err != nil {
			return err
		}
	}
	r.note("arrived", fmt.Sprint(p.Moved))
	r.moves++
	r.moved += p.Moved
	l.spans[len(l.spans)-1].to = r.now
	l.move, l.from, l.waved = 0, 1-l.from, time.Time{}
	l.by = r.chance.IntN(2)
	l.next = r.now.Add(20*day + r.between(0, r.plan.Lasts/4))
	return nil
}
