package loyalty

import (
	"slices"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Ledger is a member's account to which entries are posted. It only computes: what was
// posted is in Entries and Uses, and Close returns what changed.
//
// Lots must contain all open lots, and the closed ones that an operation refers to. Earning
// needs no lots while the account has no debt.
type Ledger struct {
	Account Account
	Lots    []Lot
	Entries []Entry
	Uses    []Use

	terms        Terms
	zone         *time.Location
	now          time.Time
	earnedBefore Points // earned before
	partial      bool   // earlier lots were not read
	reminds      *remind
	touched      map[int64]bool
}

// OpenLedger returns the ledger of an account with its open lots.
func OpenLedger(a Account, lots []Lot, terms Terms, zone *time.Location, now time.Time) *Ledger {
	a.Sums.Rewarded = cloneCounts(a.Sums.Rewarded)
	return &Ledger{Account: a, Lots: lots, terms: terms, zone: zone, now: now, earnedBefore: a.Sums.Earned, touched: make(map[int64]bool)}
}

func cloneCounts(m map[SourceType]int64) map[SourceType]int64 {
	c := make(map[SourceType]int64, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

// Posting is what a caller posts to a ledger.
type Posting struct {
	Source      Source
	Rule        RuleID
	Reward      RewardID
	Points      Points
	Description string
	Note        string
	Actor       string
	At          time.Time // when it happened; zero: now
}

func (p Posting) entry(k Kind) Entry {
	return Entry{
		Kind: k, Source: p.Source, Rule: p.Rule, Reward: p.Reward, Description: p.Description, Note: p.Note, Actor: p.Actor, OccurredAt: p.At,
	}
}

// Earn credits points, at once or, when the terms say so, as pending.
func (l *Ledger) Earn(p Posting) {
	if p.Points <= 0 {
		return
	}
	from := p.At
	if from.IsZero() {
		from = l.now
	}
	from = from.AddDate(0, 0, l.terms.PendingDays)
	if l.terms.Approval || from.After(l.now) {
		e := p.entry(Pend)
		e.Pending = p.Points
		if !l.terms.Approval {
			e.AvailableAt = from
		}
		e = l.post(e)
		l.addLot(Lot{Points: p.Points, Pending: true, AvailableFrom: e.AvailableAt}, e)
		return
	}
	e := p.entry(Earn)
	e.Available = p.Points
	l.credit(e)
}

// credit posts an entry that creates a lot.
func (l *Ledger) credit(e Entry) {
	e.AvailableAt = l.now
	if e.ExpiresAt.IsZero() {
		e.ExpiresAt = l.terms.Expiry.of(l.now, l.zone)
	}
	e = l.post(e)
	l.addLot(Lot{Points: e.Available, Remaining: e.Available, AvailableFrom: l.now, ExpiresAt: e.ExpiresAt}, e)
	l.payDebt(e.Seq)
}

// Release makes the points of a pending lot available.
func (l *Ledger) Release(seq int64, by Posting) {
	lot := l.lot(seq)
	if lot == nil || !lot.Pending {
		return
	}
	n := lot.pendingPoints()
	from := l.now
	if !lot.AvailableFrom.IsZero() && lot.AvailableFrom.Before(from) {
		from = lot.AvailableFrom // a job that comes late takes nothing from the time to spend them
	}
	e := Entry{
		Kind: Release, Pending: -n, Available: n, Lot: seq, Source: lot.Source, Rule: lot.Rule, AvailableAt: from, ExpiresAt: l.terms.Expiry.of(from, l.zone),
		Note: by.Note, Actor: by.Actor,
	}
	e = l.post(e)
	lot.Pending, lot.Remaining, lot.AvailableFrom, lot.ExpiresAt = false, n, from, e.ExpiresAt
	l.touch(seq)
	l.payDebt(e.Seq)
}

// Adjust adds points manually, or removes them when they are negative. It cannot remove more
// than are available.
func (l *Ledger) Adjust(p Posting) error {
	e := p.entry(Adjust)
	e.Available = p.Points
	if p.Points > 0 {
		l.credit(e)
		return nil
	}
	if err := l.checkBalance(-p.Points); err != nil {
		return err
	}
	e = l.post(e)
	l.take(e.Seq, -p.Points, 0)
	return nil
}

// Spend deducts points for a reward.
func (l *Ledger) Spend(p Posting) error {
	if err := l.checkBalance(p.Points); err != nil {
		return err
	}
	e := p.entry(Spend)
	e.Available = -p.Points
	e = l.post(e)
	l.take(e.Seq, p.Points, 0)
	return nil
}

func (l *Ledger) checkBalance(n Points) error {
	if l.Account.Sums.Available >= n {
		return nil
	}
	return fault.New(fault.FailedPrecondition, "the customer has %s points available, and %s are needed", l.Account.Sums.Available, n).
		Entity(entity).Code("notEnoughPoints").Field("points")
}

// Refund returns the points of a reward. The uses are those of the entry that spent them.
// Points return to their lots; points that would have expired since can be spent for a grace
// period. What could not be reversed of a lot because it had been spent is reversed now.
func (l *Ledger) Refund(p Posting, uses []Use) {
	e := p.entry(RefundSpend)
	var late Points
	var back []Use
	for _, u := range uses {
		if u.Role != Take {
			continue
		}
		e.Available += u.Points
		lot := l.lot(u.Lot)
		if lot == nil || lot.Expired > 0 || !lot.ExpiresAt.IsZero() && !lot.ExpiresAt.After(l.now) {
			late += u.Points
			continue
		}
		back = append(back, u)
	}
	if e.Available == 0 {
		return
	}
	if late > 0 {
		e.AvailableAt, e.ExpiresAt = l.now, l.now.Add(grace)
	}
	e = l.post(e)
	for _, u := range back {
		l.lot(u.Lot).Remaining += u.Points
		l.use(e.Seq, u.Lot, Back, u.Points)
	}
	if late > 0 {
		l.addLot(Lot{Points: late, Remaining: late, AvailableFrom: l.now, ExpiresAt: e.ExpiresAt}, e)
	}
	l.payDebt(e.Seq)
	for _, u := range uses {
		if lot := l.lot(u.Lot); u.Role == Take && lot != nil {
			l.reverseSpent(lot, min(u.Points, lot.Absorbed-lot.Expired, l.Account.Sums.Available), p)
		}
	}
}

// reverseSpent reverses points that had been spent when their lot was reversed.
func (l *Ledger) reverseSpent(lot *Lot, n Points, back Posting) {
	if n <= 0 {
		return
	}
	e := l.post(Entry{
		Kind: Reverse, Available: -n, Absorbed: -n, Lot: lot.Seq, Source: Source{lot.Source.Type, lot.Source.ID + "|reward:" + back.Source.ID}, Rule: lot.Rule,
		Description: "Taken back: spent earlier", Actor: back.Actor,
	})
	lot.Absorbed -= n
	l.touch(lot.Seq)
	l.take(e.Seq, n, lot.Seq)
}

// Reverse reverses points that were earned: from their own lot, then from others, then as
// debt where the terms allow it. Expired points are not deducted again.
func (l *Ledger) Reverse(seq int64, p Posting) {
	lot := l.lot(seq)
	if lot == nil {
		return
	}
	n := min(p.Points, lot.Points-lot.Reversed)
	if n <= 0 {
		return
	}
	e := p.entry(Reverse)
	e.Lot, e.Rule = seq, lot.Rule
	e.Full = lot.Reversed+n == lot.Points
	if lot.Pending {
		e.Pending = -n
		l.post(e)
		lot.Reversed += n
		lot.Pending = lot.Reversed < lot.Points
		l.touch(seq)
		return
	}
	e.Absorbed = min(n, max(lot.Expired-lot.Absorbed, 0))
	rest := n - e.Absorbed
	if left := max(l.Account.Sums.Available, 0); !l.terms.Negative && rest > left {
		e.Absorbed += rest - left
		rest = left
		e.Note = join(e.Note, "capped: the member had no more")
	}
	e.Available = -rest
	e = l.post(e)
	lot.Reversed += n
	lot.Absorbed += e.Absorbed
	l.touch(seq)
	if left := l.take(e.Seq, rest, seq); left > 0 {
		l.use(e.Seq, 0, Owe, left)
		l.Account.Sums.Debt += left
	}
}

func join(a, b string) string {
	if a == "" {
		return b
	}
	return a + "; " + b
}

// Settle releases pending points and expires lots, each at its instant, up to now. It does
// nothing when earlier lots were not read.
func (l *Ledger) Settle() {
	if l.partial {
		return
	}
	for _, lot := range slices.Clone(l.Lots) {
		if lot.Pending && !lot.AvailableFrom.IsZero() && !lot.AvailableFrom.After(l.now) {
			l.Release(lot.Seq, Posting{})
		}
	}
	idle := l.terms.Expiry.idle(l.Account.ActiveAt, l.zone)
	over := !idle.IsZero() && !idle.After(l.now)
	for i := range l.Lots {
		lot := &l.Lots[i]
		if lot.Remaining <= 0 || !over && (lot.ExpiresAt.IsZero() || lot.ExpiresAt.After(l.now)) {
			continue
		}
		e := l.post(Entry{Kind: Expire, Available: -lot.Remaining, Lot: lot.Seq, Source: lotSource(Expiry, lot)})
		n := lot.Remaining
		lot.Remaining, lot.Expired = 0, lot.Expired+n
		l.use(e.Seq, lot.Seq, Take, n)
	}
}

// due returns when Settle is next needed.
func (l *Ledger) due() time.Time {
	var at time.Time
	earlier := func(t time.Time) {
		if !t.IsZero() && (at.IsZero() || t.Before(at)) {
			at = t
		}
	}
	if l.partial {
		earlier(l.Account.DueAt)
	}
	for _, lot := range l.Lots {
		switch {
		case lot.Pending:
			earlier(lot.AvailableFrom)
		case lot.Remaining > 0:
			earlier(lot.ExpiresAt)
		}
	}
	if l.Account.Sums.Available > 0 {
		earlier(l.terms.Expiry.idle(l.Account.ActiveAt, l.zone))
	}
	earlier(l.nextReminder())
	return at
}

// Close returns what changed: the account, with the instant at which it is next due, and the
// changed lots.
func (l *Ledger) Close() (Account, []Lot) {
	l.Account.DueAt = l.due()
	l.Account.UpdatedAt = l.now
	return l.Account, l.changed()
}

func (l *Ledger) changed() []Lot {
	var lots []Lot
	for _, lot := range l.Lots {
		if l.touched[lot.Seq] {
			lots = append(lots, lot)
		}
	}
	return lots
}

// post numbers an entry and adds it to the totals.
func (l *Ledger) post(e Entry) Entry {
	l.Account.Seq++
	e.Account, e.Seq, e.RecordedAt = l.Account.ID, l.Account.Seq, l.now
	if e.OccurredAt.IsZero() {
		e.OccurredAt = l.now
	}
	l.Account.Sums.apply(e)
	if e.Kind != Expire {
		l.Account.ActiveAt = l.now
	}
	l.Entries = append(l.Entries, e)
	return e
}

// addLot adds the lot that an entry creates.
func (l *Ledger) addLot(lot Lot, e Entry) {
	lot.Account, lot.Seq, lot.Source, lot.Rule = l.Account.ID, e.Seq, e.Source, e.Rule
	l.Lots = append(l.Lots, lot)
	l.touch(e.Seq)
}

// take deducts points from lots, from one of them first, and returns the part that they do
// not cover.
func (l *Ledger) take(entry int64, n Points, first int64) Points {
	order := make([]*Lot, 0, len(l.Lots))
	for i := range l.Lots {
		if l.Lots[i].Remaining > 0 {
			order = append(order, &l.Lots[i])
		}
	}
	slices.SortFunc(order, func(a, b *Lot) int {
		if (a.Seq == first) != (b.Seq == first) {
			if a.Seq == first {
				return -1
			}
			return 1
		}
		return byExpiry(*a, *b)
	})
	for _, lot := range order {
		part := min(n, lot.Remaining)
		if part <= 0 {
			break
		}
		lot.Remaining -= part
		n -= part
		l.use(entry, lot.Seq, Take, part)
	}
	return n
}

// payDebt pays debt with available points, so that there is never both.
func (l *Ledger) payDebt(entry int64) {
	if l.Account.Sums.Debt <= 0 {
		return
	}
	for _, lot := range slices.SortedFunc(slices.Values(l.Lots), byExpiry) {
		part := min(l.Account.Sums.Debt, lot.Remaining)
		if part <= 0 {
			continue
		}
		l.lot(lot.Seq).Remaining -= part
		l.Account.Sums.Debt -= part
		l.use(entry, lot.Seq, Pay, part)
	}
}

func (l *Ledger) use(entry, lot int64, role Role, n Points) {
	l.Uses = append(l.Uses, Use{Account: l.Account.ID, Entry: entry, Lot: lot, Role: role, Points: n})
	if lot != 0 {
		l.touch(lot)
	}
}

func (l *Ledger) touch(seq int64) { l.touched[seq] = true }

func (l *Ledger) lot(seq int64) *Lot {
	for i := range l.Lots {
		if l.Lots[i].Seq == seq {
			return &l.Lots[i]
		}
	}
	return nil
}
