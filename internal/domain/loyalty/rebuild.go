package loyalty

import "fmt"

// lotSource names a lot as the source of an entry.
func lotSource(of SourceType, lot *Lot) Source {
	return Source{of, fmt.Sprintf("%d:%d", lot.Account, lot.Seq)}
}

// Rebuild adds up an account's whole ledger, entries and uses in their order. It
// proves what is kept with the account and its lots, or repairs it.
func Rebuild(entries []Entry, uses []Use) (Sums, []Lot) {
	sums := Sums{Rewarded: make(map[SourceType]int64)}
	var lots []Lot
	at := make(map[int64]int)
	lay := func(l Lot, e Entry) {
		l.Account, l.Seq, l.Source, l.Rule, l.AvailableFrom, l.ExpiresAt = e.Account, e.Seq, e.Source, e.Rule, e.AvailableAt, e.ExpiresAt
		at[e.Seq] = len(lots)
		lots = append(lots, l)
	}
	back := make(map[int64]Points)
	for _, u := range uses {
		if u.Role == Back {
			back[u.Entry] += u.Points
		}
	}
	for _, e := range entries {
		sums.apply(e)
		switch e.Kind {
		case Pend:
			lay(Lot{Points: e.Pending, Pending: true}, e)
		case Earn:
			lay(Lot{Points: e.Available, Remaining: e.Available}, e)
		case Adjust:
			if e.Available > 0 {
				lay(Lot{Points: e.Available, Remaining: e.Available}, e)
			}
		case RefundSpend:
			if late := e.Available - back[e.Seq]; late > 0 {
				lay(Lot{Points: late, Remaining: late}, e)
			}
		case Release:
			l := &lots[at[e.Lot]]
			l.Pending, l.Remaining, l.AvailableFrom, l.ExpiresAt = false, e.Available, e.AvailableAt, e.ExpiresAt
		case Reverse:
			l := &lots[at[e.Lot]]
			l.Reversed += e.reversed()
			l.Absorbed += e.Absorbed
			if e.Pending != 0 {
				l.Pending = l.Reversed < l.Points
			}
		case Expire:
			lots[at[e.Lot]].Expired -= e.Available
		}
	}
	for _, u := range uses {
		switch u.Role {
		case Owe:
			sums.Debt += u.Points
		case Pay:
			sums.Debt -= u.Points
			lots[at[u.Lot]].Remaining -= u.Points
		case Take:
			lots[at[u.Lot]].Remaining -= u.Points
		case Back:
			lots[at[u.Lot]].Remaining += u.Points
		}
	}
	return sums, lots
}

// reversed returns how much of its lot a Reverse takes back, with what was gone
// already.
func (e Entry) reversed() Points { return -e.Pending - e.Available + e.Absorbed }
