package billing

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/swap"
)

// Preparation is how far an attempt's order has been made what it should be,
// before it is charged: swapped products, one-time products and the note of this
// order. Most orders need none of it, and their preparation stays zero.
type Preparation struct {
	Stage    Stage     `json:"stage,omitempty"`
	Edited   bool      `json:"edited,omitempty"` // the platform's cycle may hold a change of ours
	Plan     *Plan     `json:"plan,omitempty"`   // of the step under way, committed before the platform hears of it
	Edits    int       `json:"edits,omitempty"`  // changes of the step that did not come to an end
	Failures int       `json:"failures,omitempty"`
	NoteLeft bool      `json:"noteLeft,omitempty"` // the order was made without its note, which follows
	Since    time.Time `json:"since,omitzero"`     // when the step failed first

	// Revision is the contract's at which the platform's cycle held no copy of an
	// older one. The edit of a cycle is such a copy: one that is found when the
	// contract has another revision may lack what changed between them.
	Revision uint64 `json:"revision,omitempty"`
	Contract string `json:"contract,omitempty"` // fingerprint of the contract's lines when the order was ready

	// Kept is the date that the platform shows of the cycle because it refused our word on
	// it, a date or a skip. It is older than our word. Zero: the platform took our word.
	Kept time.Time `json:"kept,omitzero"`

	Order  int  `json:"order,omitempty"`  // which of the contract it was to be when it was ready, from 1
	Lasted bool `json:"lasted,omitempty"` // rules that last were applied with it before

	Swapped []swap.ID `json:"swapped,omitempty"` // rules of this order alone that were told of, and have moved the orders after it
}

// None reports whether nothing is noted of a preparation.
func (p Preparation) None() bool { return reflect.ValueOf(p).IsZero() }

// at is the preparation at another step, without what was noted of the steps before. What
// came to last with the order is not done for it again.
func (p Preparation) at(s Stage, edited bool, revision uint64) Preparation {
	done := p.Stage == ContractDone || p.Stage == OrderPlanned || p.Stage == Ready
	return Preparation{Stage: s, Edited: edited, Revision: revision, Kept: p.Kept, Lasted: p.Lasted || done, Swapped: p.Swapped}
}

// outdated reports whether the order is to be prepared anew: the contract has changed
// of which the platform holds a copy for it, or another order has taken its place in
// the count by which the contract's prices go. What was sent stays as it was sent.
func (a Attempt) outdated(c contract.Contract) bool {
	waits := a.Status == Failure || a.FirstSentAt.IsZero() && (a.Status == Queued || a.Status == Requesting)
	return waits && a.Prep.Stage == Ready && (a.Prep.Edited && c.Revision > a.Prep.Revision || a.dated(c))
}

// dated reports whether the order was prepared as another one of a contract than it
// is now, of which the prices change with the orders, or for other prices than the
// contract has now, which may be those of another order.
func (a Attempt) dated(c contract.Contract) bool {
	return c.Priced && (a.Prep.Order != c.NextOrder() || a.Prep.Contract != "" && a.Prep.Contract != fingerprintOf(c.Lines))
}

// anew lets an order be prepared once more that was ready. What lasts came with it
// already; prices that go by orders may have changed since.
func (a *Attempt) anew(c contract.Contract) {
	dated := a.dated(c)
	a.unready()
	if !dated {
		a.Prep.Stage = ContractDone
	}
}

// Stage is a step of a preparation.
type Stage string

// The steps. Each change is planned, committed, made, and then noted, so that one
// whose answer was lost is recognised and not made again.
const (
	Fresh           Stage = ""
	ContractPlanned Stage = "CONTRACT_PLANNED"
	ContractDone    Stage = "CONTRACT_DONE"
	OrderPlanned    Stage = "ORDER_PLANNED"
	Ready           Stage = "READY"
)

// Plan is a change of a contract or of one order, by what was there and what is
// to be there afterwards.
type Plan struct {
	Base    string   `json:"base"` // fingerprints
	Wanted  string   `json:"wanted"`
	Changes []Change `json:"changes,omitempty"` // that rules make
	Shift   int      `json:"shift,omitempty"`   // days by which later orders move
	Prices  []Price  `json:"prices,omitempty"`  // that begin with the order
}

// Change is what one swap rule does.
type Change struct {
	Rule    swap.ID        `json:"rule"`
	Name    string         `json:"name,omitempty"`
	Once    bool           `json:"once,omitempty"` // the rule is done with the contract
	Removed []swap.Product `json:"removed"`
	Added   []swap.Product `json:"added"`
	Shift   int            `json:"shift,omitempty"` // days of the plan's that are the rule's
}

// maxEdits is how many changes of an order may end in doubt before it is charged
// as it is.
const maxEdits = 8

// SwapUse notes that a rule that acts once for a contract has acted.
type SwapUse struct {
	Rule     swap.ID
	Contract contract.ID
}

// preparations is what decides whether orders need to be prepared. What a store
// does not use is not read.
type preparations struct {
	rules   []swap.Rule
	used    map[contract.ID]map[swap.ID]bool
	oneOffs map[contract.ID][]OneOff
}

func openPreparations(ctx context.Context, tx Tx, of shop.Shop, contracts map[contract.ID]*contract.Contract) (preparations, error) {
	p, err := readOneOffs(ctx, tx, contracts)
	if err != nil || !of.Settings.SwapRules {
		return p, err
	}
	all := slices.Sorted(maps.Keys(contracts))
	if p.rules, err = tx.SwapRules(ctx); err != nil || len(p.rules) == 0 {
		return p, err
	}
	swap.Sort(p.rules)
	p.used, err = tx.SwapUses(ctx, all)
	return p, err
}

// readOneOffs reads what orders carry besides the lines of their contracts.
func readOneOffs(ctx context.Context, tx Tx, contracts map[contract.ID]*contract.Contract) (preparations, error) {
	var carrying []contract.ID
	for id, c := range contracts {
		if c.OneOffs > 0 {
			carrying = append(carrying, id)
		}
	}
	if len(carrying) == 0 {
		return preparations{}, nil
	}
	slices.Sort(carrying)
	list, err := tx.OneOffs(ctx, carrying)
	p := preparations{oneOffs: make(map[contract.ID][]OneOff, len(carrying))}
	for _, o := range list {
		p.oneOffs[o.Contract] = append(p.oneOffs[o.Contract], o)
	}
	return p, err
}

// oneOffsOf returns what the attempt's order carries besides its lines.
func (p preparations) oneOffsOf(a Attempt) []OneOff {
	var list []OneOff
	for _, o := range p.oneOffs[a.Contract] {
		if o.Cycle == a.Cycle {
			list = append(list, o)
		}
	}
	return list
}

// errandOf returns what has to be prepared for the attempt's order, and whether
// anything has.
func (p preparations) errandOf(a Attempt, c contract.Contract) (preparing, bool) {
	e := preparing{Attempt: a, contract: c, oneOffs: p.oneOffsOf(a)}
	var rules []swap.Rule
	for _, r := range p.rules {
		if r.Line == c.Line {
			rules = append(rules, r)
		}
	}
	if e.lasting, e.single = swap.Split(rules); a.Prep.Lasted {
		e.lasting = nil
	}
	e.used = p.used[c.ID]
	switch a.Prep.Stage {
	case Ready:
		return e, a.outdated(c)
	case Fresh:
		return e, c.Priced || a.Note != "" || a.Prep.Edited || len(e.oneOffs) > 0 || concerns(rules, e.order(swap.Lines(c.Lines)))
	}
	return e, true
}

// preparing is one attempt on its way to being prepared.
type preparing struct {
	Attempt
	contract        contract.Contract
	oneOffs         []OneOff // of this order
	lasting, single []swap.Rule
	used            map[swap.ID]bool
	edited          []int                 // cycles of the contract that may hold changes of ours
	announced       contract.InFlightEdit // the change of the contract that is about to be made; zero: none
}

// order returns what rules are applied to.
func (e preparing) order(lines []swap.Line) swap.Order {
	return swap.Order{
		Cycle: e.Cycle, First: e.contract.Orders == 0 && e.contract.OriginOrderID == 0, Used: e.used, Lines: lines,
	}
}

// note returns the note that the order should carry: the contract's, and below it
// the order's own.
func (e preparing) note() string {
	return joinNotes(e.contract.Note, e.Note)
}

func joinNotes(first, second string) string {
	if first == "" || second == "" {
		return first + second
	}
	return first + "\n" + second
}

func concerns(rules []swap.Rule, o swap.Order) bool {
	return slices.ContainsFunc(rules, func(r swap.Rule) bool { return r.Concerns(o) })
}

// changesOf returns what rules do, for the plan and the log.
func changesOf(applied []swap.Rule) []Change {
	changes := make([]Change, len(applied))
	for i, r := range applied {
		changes[i] = Change{Rule: r.ID, Name: r.Name, Once: !r.EveryOrder && !r.OneOrderOnly(), Removed: r.Sources, Added: r.Destinations}
		if r.ShiftDays != nil {
			changes[i].Shift = *r.ShiftDays
		}
	}
	return changes
}

// placed is a line of an order, and the one-time product that it is, if it is one.
type placed struct {
	swap.Line
	oneOff OneOffID
}

// fingerprint names what lines and a note order, whatever their identities and
// their sequence.
func fingerprint(lines []placed, note string) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = fmt.Sprintf("%d×%d@%s%s/%d", l.VariantID, l.Quantity, l.Price, l.Price.Currency, l.oneOff)
	}
	slices.Sort(texts)
	sum := sha256.Sum256([]byte(strings.Join(texts, "\n") + "\n\n" + note))
	return hex.EncodeToString(sum[:12])
}

// fingerprintOf is the fingerprint of lines that are no one-time products.
func fingerprintOf(lines []contract.Line) string {
	return fingerprint(placedLines(swap.Lines(lines)), "")
}

// findEdited finds which other cycles may hold changes of ours, of the contracts
// that rules may change: the platform does not let a contract be changed while
// any does.
func (b *batch) findEdited(ctx context.Context, tx Tx) error {
	var of []contract.ID
	for _, e := range b.preparing {
		if len(e.lasting) > 0 || e.contract.Priced {
			of = append(of, e.Contract)
		}
	}
	if len(of) == 0 {
		return nil
	}
	rows, err := tx.AttemptsOf(ctx, of, Queued, Requesting, Failure)
	if err != nil {
		return err
	}
	for _, a := range rows {
		for i := range b.preparing {
			if e := &b.preparing[i]; e.Contract == a.Contract && a.Prep.Edited {
				e.edited = append(e.edited, a.Cycle)
			}
		}
	}
	return nil
}
