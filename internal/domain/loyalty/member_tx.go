package loyalty

import (
	"context"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// memberTx is one transaction in which somebody acts on one member.
type memberTx struct {
	tx      Tx
	who     CustomerRef
	shop    shop.Shop
	zone    *time.Location
	program Program
	now     time.Time
	given   []Event // of store credit, which is told when the ledger is written
}

// asked is whom a request is about, and its name when it may come again.
type asked struct {
	who  CustomerRef
	name string
}

// act lets do work on a member of an active programme and returns the member as it is
// then. That a request was carried out is noted in the same commit: one that comes
// again, wherever the process died that carried it out, finds the member as that left
// it.
func (s *Service) act(ctx context.Context, of shop.ID, by asked, do func(*memberTx) error) (Member, error) {
	var store shop.Shop
	err := s.Store.Update(ctx, of, func(tx Tx) error {
		d, err := s.begin(ctx, tx)
		if err != nil {
			return err
		}
		if !d.program.Active {
			return fault.New(fault.FailedPrecondition, "the store's loyalty programme is not active").Entity("loyaltyProgram").Code("loyaltyInactive")
		}
		d.who, store = by.who, d.shop
		if by.name != "" {
			again, err := tx.Repeats(ctx, by.name, d.now)
			if err != nil || again {
				return err
			}
		}
		return do(d)
	})
	if err != nil {
		return Member{}, err
	}
	ctx, cancel := afterwards(ctx)
	defer cancel()
	return s.Member(ctx, store, by.who, "")
}

// toItsEnd is how long what follows a commit may take.
const toItsEnd = 30 * time.Second

// afterwards returns the context of what follows a commit: points have moved, and a
// caller who has hung up must not keep the answer from being found out.
func afterwards(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), toItsEnd)
}

func (s *Service) begin(ctx context.Context, tx Tx) (*memberTx, error) {
	d := &memberTx{tx: tx, now: s.Clock.Now()}
	var err error
	if d.shop, err = tx.Shop(ctx); err != nil {
		return nil, err
	}
	cal, err := d.shop.Calendar()
	if err != nil {
		return nil, err
	}
	d.zone = cal.Zone
	d.program, err = tx.Program(ctx)
	return d, err
}

// notEnrolled is the answer about a customer who is not a member.
func notEnrolled(who CustomerRef) error {
	if who.Customer != 0 {
		return fault.New(fault.NotFound, "customer %d is not enrolled in the loyalty programme", who.Customer).Entity(entity).Code("customerNotEnrolled").Field("customerId")
	}
	return fault.New(fault.NotFound, "no customer with this e-mail address is enrolled in the loyalty programme").Entity(entity).Code("customerNotEnrolled").Field("customerEmail")
}

// NotEnrolled is that answer, for stores.
func NotEnrolled(who CustomerRef) error { return notEnrolled(who) }

// find returns the member, or NotFound.
func (d *memberTx) find(ctx context.Context) (Account, error) {
	customer := d.who.Customer
	if customer == 0 {
		known, err := d.tx.CustomerByEmail(ctx, d.who.Email)
		if err != nil {
			return Account{}, err
		}
		customer = known.Customer
	}
	if customer == 0 {
		return Account{}, notEnrolled(d.who)
	}
	found, err := d.tx.AccountsOf(ctx, []int64{customer})
	if err != nil {
		return Account{}, err
	}
	if len(found) == 0 {
		return Account{}, notEnrolled(d.who)
	}
	return found[0], d.who.checkEmail(found[0].Person)
}

// customer returns who the customer is, or NotFound when the store knows nobody
// like that.
func (d *memberTx) customer(ctx context.Context) (Person, error) {
	var known Person
	var err error
	if d.who.Customer != 0 {
		known, err = d.tx.CustomerByID(ctx, d.who.Customer)
	} else {
		known, err = d.tx.CustomerByEmail(ctx, d.who.Email)
	}
	if err == nil {
		err = d.who.checkEmail(known)
	}
	if err == nil && known.Customer == 0 {
		err = fault.New(fault.NotFound, "the customer is not known: only customers with a subscription can be enrolled").Entity(entity).Code("customerNotFound")
	}
	return known, err
}

// open returns the ledger of a member who takes part.
func (d *memberTx) open(ctx context.Context) (*Ledger, error) {
	a, err := d.find(ctx)
	if err != nil {
		return nil, err
	}
	if !a.Status.takesPart() {
		return nil, fault.New(fault.FailedPrecondition, "the customer is %s in the loyalty programme", a.Status).Entity(entity).Code("customerNotActive")
	}
	l, err := d.whole(ctx, a)
	if err != nil {
		return nil, err
	}
	l.Settle() // what is over must not be spent
	return l, nil
}

// openOrEnrol does the same and, where customers become members by themselves,
// makes the customer one.
func (d *memberTx) openOrEnrol(ctx context.Context) (*Ledger, error) {
	l, err := d.open(ctx)
	if err == nil || !fault.Is(err, fault.NotFound) || d.program.Terms.Enrol != Auto {
		return l, err
	}
	who, err := d.customer(ctx)
	if err != nil {
		return nil, err
	}
	return d.enrol(ctx, who, "")
}

// enrol adds a member and returns the ledger under its lock. Somebody else may have
// added the member meanwhile.
func (d *memberTx) enrol(ctx context.Context, who Person, born string) (*Ledger, error) {
	if err := d.tx.AddAccounts(ctx, []Account{d.account(who, born)}); err != nil {
		return nil, err
	}
	found, err := d.tx.AccountsOf(ctx, []int64{who.Customer})
	if err == nil && len(found) == 0 {
		err = fault.New(fault.Internal, "customer %d is no member right after enrolling", who.Customer)
	}
	if err != nil {
		return nil, err
	}
	l, err := d.whole(ctx, found[0])
	if err != nil {
		return nil, err
	}
	d.welcome(l)
	return l, nil
}

func (d *memberTx) account(who Person, born string) Account {
	return Account{
		Person: who, Status: Active, Born: born, ReferralCode: referralCode(d.shop.ID, d.shop.Domain, who.Customer), EnrolledAt: d.now, ActiveAt: d.now,
		Spent: money.Amount{Currency: d.shop.Currency}, Credit: money.Amount{Currency: d.shop.Currency}, CreatedAt: d.now, UpdatedAt: d.now,
	}
}

// welcome gives a new member what creating an account earns. It does so once.
func (d *memberTx) welcome(l *Ledger) {
	if l.Account.Seq > 0 {
		return
	}
	for _, r := range d.program.Terms.Earn {
		fact := Fact{Source: Source{CreateAccount, onceID(l.Account)}, At: d.now}
		l.Earn(Posting{Source: fact.Source, Rule: r.ID, Points: r.Gives(fact), Description: r.Name, At: d.now})
	}
}

// whole returns the ledger of a member with all lots that are open: without them it
// would not know when anything is due.
func (d *memberTx) whole(ctx context.Context, a Account) (*Ledger, error) {
	lots, err := d.tx.OpenLots(ctx, []AccountID{a.ID})
	if err != nil {
		return nil, err
	}
	return d.ledger(a, lots), nil
}

func (d *memberTx) ledger(a Account, lots []Lot) *Ledger {
	return OpenLedger(a.in(d.shop.Currency), lots, d.program.Terms, d.zone, d.now)
}

// save writes what was posted.
func (d *memberTx) save(ctx context.Context, ledgers ...*Ledger) error {
	var accounts []Account
	var entries []Entry
	var uses []Use
	var lots []Lot
	for _, l := range ledgers {
		a, changed := l.Close()
		accounts, lots = append(accounts, a), append(lots, changed...)
		entries, uses = append(entries, l.Entries...), append(uses, l.Uses...)
	}
	if err := d.tx.Post(ctx, entries, uses, lots); err != nil {
		return err
	}
	for _, l := range ledgers { // the entries have their numbers now
		n := len(l.Entries)
		copy(l.Entries, entries[:n])
		entries = entries[n:]
	}
	if err := d.tx.PutAccounts(ctx, accounts); err != nil {
		return err
	}
	return d.tx.PublishMemberEvents(ctx, d.newsOf(ledgers)...)
}

// note is the additional information of an entry that loyalty writes.
type note struct {
	What     string  `json:"what"`
	Customer int64   `json:"customerId"`
	Points   float64 `json:"points,omitempty"`
	Amount   string  `json:"amount,omitempty"`
	Balance  float64 `json:"availablePoints"`
	Reward   int64   `json:"rewardId,omitempty"`
	Order    string  `json:"orderName,omitempty"`
	Note     string  `json:"note,omitempty"`
}

// record notes what somebody did to a member. The interface has no entity type
// for members: the entry is about the store and names the customer.
func (d *memberTx) record(ctx context.Context, by activity.Actor, a Account, n note) error {
	n.Customer, n.Balance = a.Person.Customer, a.Sums.Available.Float()
	return d.tx.Record(ctx, activity.Entry{
		EntityID: int64(d.shop.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Success,
		Actor: by, At: d.now, Info: activity.Details(n),
	})
}
