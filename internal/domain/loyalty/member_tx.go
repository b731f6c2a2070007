package loyalty

import (
	"context"
	"crypto/sha256"
	"encoding/base32"
	"fmt"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

// memberTx is one transaction on one member.
type memberTx struct {
	tx       Tx
	who      CustomerRef
	shop     shop.Shop
	zone     *time.Location
	program  Program
	now      time.Time
	actor    activity.Actor // who acts: the service itself, if no request does
	quiet    bool           // no notice is sent
	credited []Event        // events of store credit, published when the ledger is written
}

// request names the member of a request, its idempotency key, if it has one, and who acts.
type request struct {
	who   CustomerRef
	key   string
	actor activity.Actor
}

// act runs do on a member of an active programme and returns the member afterwards. The
// idempotency key is stored in the same commit: a repeated request returns the member as the
// first one left it.
func (s *Service) act(ctx context.Context, of shop.ID, by request, do func(*memberTx) error) (Member, error) {
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
		if by.actor.Source != "" {
			d.actor = by.actor
		}
		if by.key != "" {
			again, err := tx.ClaimRequest(ctx, by.key, d.now)
			if err != nil || again {
				return err
			}
		}
		return do(d)
	})
	if err != nil {
		return Member{}, err
	}
	ctx, cancel := afterCommit(ctx)
	defer cancel()
	return s.Member(ctx, store, by.who, "")
}

// afterCommitTimeout limits what follows a commit.
const afterCommitTimeout = 30 * time.Second

// afterCommit returns a context for what follows a commit. It outlives the caller's: the
// points have moved, and the result must be stored even if the caller disconnects.
func afterCommit(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), afterCommitTimeout)
}

// begin reads the shop and its programme.
func (s *Service) begin(ctx context.Context, tx Tx) (*memberTx, error) {
	d := &memberTx{tx: tx, now: s.Clock.Now(), actor: activity.System}
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

// notEnrolled is the failure that a customer is not a member.
func notEnrolled(who CustomerRef) error {
	if who.Customer != 0 {
		return fault.New(fault.NotFound, "customer %d is not enrolled in the loyalty programme", who.Customer).Entity(entity).Code("customerNotEnrolled").Field("customerId")
	}
	return fault.New(fault.NotFound, "no customer with this e-mail address is enrolled in the loyalty programme").Entity(entity).Code("customerNotEnrolled").Field("customerEmail")
}

// NotEnrolled is notEnrolled for stores.
func NotEnrolled(who CustomerRef) error { return notEnrolled(who) }

// find returns the member, or NotFound.
func (d *memberTx) find(ctx context.Context) (Account, error) { return findAccount(ctx, d.tx, d.who) }

func findAccount(ctx context.Context, tx AccountReader, who CustomerRef) (Account, error) {
	customer := who.Customer
	if customer == 0 {
		known, err := tx.CustomerByEmail(ctx, who.Email)
		if err != nil {
			return Account{}, err
		}
		customer = known.Customer
	}
	if customer == 0 {
		return Account{}, notEnrolled(who)
	}
	found, err := tx.AccountsOf(ctx, []int64{customer})
	if err != nil {
		return Account{}, err
	}
	if len(found) == 0 {
		return Account{}, notEnrolled(who)
	}
	return found[0], who.checkEmail(found[0].Person)
}

// customer returns the customer, or NotFound when the store does not know them.
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
	l, err := d.openAll(ctx, a)
	if err != nil {
		return nil, err
	}
	l.Settle() // what is over must not be spent
	return l, nil
}

// openOrEnrol is open, and enrols the customer where the programme enrols automatically.
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

// enrol adds a member and returns its locked ledger. Another transaction may have added the
// member first.
func (d *memberTx) enrol(ctx context.Context, who Person, born string) (*Ledger, error) {
	a, err := d.add(ctx, who, born)
	if err != nil {
		return nil, err
	}
	l, err := d.openAll(ctx, a)
	if err != nil {
		return nil, err
	}
	d.earnForEnrolment(l)
	return l, nil
}

// add adds a member, locked, unless another transaction has.
func (d *memberTx) add(ctx context.Context, who Person, born string) (Account, error) {
	if err := d.tx.AddAccounts(ctx, []Account{d.account(who, born)}); err != nil {
		return Account{}, err
	}
	found, err := d.tx.AccountsOf(ctx, []int64{who.Customer})
	if err == nil && len(found) == 0 {
		err = fault.New(fault.Internal, "customer %d is no member right after enrolling", who.Customer)
	}
	if err != nil {
		return Account{}, err
	}
	return found[0], nil
}

func (d *memberTx) account(who Person, born string) Account {
	return Account{
		Person: who, Status: Active, Born: born, ReferralCode: referralCode(d.shop.ID, d.shop.Domain, who.Customer), EnrolledAt: d.now, ActiveAt: d.now,
		Spent: money.Amount{Currency: d.shop.Currency}, Credit: money.Amount{Currency: d.shop.Currency}, CreatedAt: d.now, UpdatedAt: d.now,
	}
}

// earnForEnrolment credits a new member with the points for creating an account, once.
func (d *memberTx) earnForEnrolment(l *Ledger) {
	if l.Account.Seq > 0 {
		return
	}
	for _, r := range d.program.Terms.Earn {
		fact := Fact{Source: Source{CreateAccount, onceID(l.Account)}, At: d.now}
		l.Earn(Posting{Source: fact.Source, Rule: r.ID, Points: r.Gives(fact), Description: r.Name, At: d.now})
	}
}

// openAll returns the ledger of a member with all open lots, which the next due instant
// depends on.
func (d *memberTx) openAll(ctx context.Context, a Account) (*Ledger, error) {
	lots, err := d.tx.OpenLots(ctx, []AccountID{a.ID})
	if err != nil {
		return nil, err
	}
	return d.ledger(a, lots), nil
}

func (d *memberTx) ledger(a Account, lots []Lot) *Ledger {
	return OpenLedger(a.inCurrency(d.shop.Currency), lots, d.program.Terms, d.zone, d.now)
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
	if d.quiet {
		return nil
	}
	if err := d.tx.PublishMemberEvents(ctx, d.eventsOf(ledgers)...); err != nil {
		return err
	}
	return d.mail(ctx, ledgers)
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

// record writes an activity entry about a member. The interface has no entity type for
// members: the entry is about the store and names the customer.
func (d *memberTx) record(ctx context.Context, by activity.Actor, a Account, n note) error {
	n.Customer, n.Balance = a.Person.Customer, a.Sums.Available.Float()
	return d.tx.Record(ctx, activity.Entry{
		EntityID: int64(d.shop.ID), EntityType: activity.EntityShopInfo, Event: activity.InformationalEvent, Status: activity.Success,
		Actor: by, At: d.now, Info: activity.Details(n),
	})
}

// referralCode returns the code of a member's referral link. It does not reveal the
// customer.
func referralCode(of shop.ID, domain string, customer int64) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "referral|%d|%s|%d", of, domain, customer))
	return strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:10]))
}

// onceID is the source id of activities that give points once per member.
func onceID(a Account) string { return fmt.Sprintf("customer:%d", a.Person.Customer) }

// eventsOf returns the events of ledgers that are being written. Their entries must have
// IDs.
func (d *memberTx) eventsOf(ledgers []*Ledger) []Event {
	var list []Event
	for _, l := range ledgers {
		customer := l.Account.Person.Customer
		if l.Account.Version == firstVersion {
			list = append(list, Event{SignedUp, customer, int64(l.Account.ID), d.now, d.actor})
		}
		for _, e := range l.Entries {
			if e.gives() {
				list = append(list, Event{PointsEarned, customer, int64(e.ID), d.now, d.actor})
				if kind := eventOfSource[e.Source.Type]; kind != "" {
					list = append(list, Event{kind, customer, int64(e.ID), d.now, d.actor})
				}
			}
		}
		if n := len(l.Entries); n > 0 && l.reachedTier() {
			list = append(list, Event{TierAchieved, customer, int64(l.Entries[n-1].ID), d.now, d.actor})
		}
	}
	return append(list, d.credited...)
}

// reachedTier reports whether the member has reached a higher tier.
func (l *Ledger) reachedTier() bool {
	was, _ := l.terms.TiersOf(l.earnedBefore)
	is, _ := l.terms.TiersOf(l.Account.Sums.Earned)
	return is != nil && (was == nil || is.Points > was.Points)
}

// firstVersion is the version of a member that the same transaction has added and has not
// written yet.
const firstVersion = 1
