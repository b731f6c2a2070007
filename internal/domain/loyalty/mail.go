package loyalty

import (
	"context"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/domain/notify"
)

// mail leaves the e-mails about what was posted to members, in its transaction. Their entries must
// have IDs.
func (d *memberTx) mail(ctx context.Context, ledgers []*Ledger) error {
	if !d.program.Active {
		return nil
	}
	var list []notify.Message
	for _, l := range ledgers {
		if !l.Account.Status.takesPart() {
			continue
		}
		for _, m := range d.mailsAbout(l) {
			messages, err := d.to(l.Account.Person, m)
			if err != nil {
				return err
			}
			list = append(list, messages...)
		}
	}
	return notify.Queue(ctx, d.tx, d.shop.ID, list...)
}

// to returns a message to a member, which is due at once if it has no instant; none if the store
// does not send its kind.
func (d *memberTx) to(who Person, m notify.Message) ([]notify.Message, error) {
	if !d.shop.Settings.Sends(m.Kind) {
		return nil, nil
	}
	m.To, m.Customer, m.Actor = who.Email, who.Customer, d.actor
	if m.ExpiresAt.IsZero() {
		m.ExpiresAt = d.now.Add(notify.Life)
	}
	return notify.ForCustomer(m, d.shop, d.now)
}

// mailsAbout returns what a member is sent about what was posted.
func (d *memberTx) mailsAbout(l *Ledger) (list []notify.Message) {
	earned := false
	for _, e := range l.Entries {
		if e.gives() && e.Source.Type == Birthday {
			list = append(list, notify.Message{
				Kind: notify.Birthday, Facts: notify.Facts{Points: &notify.Points{Entry: int64(e.ID)}}, DedupeKey: fmt.Sprintf("%s:%d", notify.Birthday, e.ID),
			})
		}
		earned = earned || earnedBy(e, d.shop.Settings.Sends(notify.Birthday))
	}
	if earned {
		list = append(list, d.earnedToday(l.Account.ID))
	}
	if n := len(l.Entries); n > 0 && l.reachedTier() {
		tier, _ := l.terms.TiersOf(l.Account.Sums.Earned)
		list = append(list, notify.Message{
			Kind: notify.TierReached, Facts: notify.Facts{Points: &notify.Points{Tier: tier.ID}}, DedupeKey: fmt.Sprintf("%s:%d", notify.TierReached, l.Entries[n-1].ID),
		})
	}
	if r := l.reminds; r != nil {
		list = append(list, notify.Message{
			Kind: notify.PointsExpiring, Facts: notify.Facts{Points: &notify.Points{Until: r.last}},
			DedupeKey: fmt.Sprintf("%s:%d:%d:%d", notify.PointsExpiring, l.Account.ID, r.last.Unix(), len(reminders)-1-r.of), ExpiresAt: r.first,
		})
	}
	return list
}

// earnedBy reports whether the e-mail about earned points names an entry. Points that were brought from
// another programme are not news, and those of a birthday may have an e-mail of their own.
func earnedBy(e Entry, birthdays bool) bool {
	return e.gives() && e.Source.Type != Import && (e.Source.Type != Birthday || !birthdays)
}

// earnedToday returns the message about everything that a member earns within the store's day. It is due
// when the day is over.
func (d *memberTx) earnedToday(of AccountID) notify.Message {
	local := d.now.In(d.zone)
	midnight := func(days int) time.Time {
		return time.Date(local.Year(), local.Month(), local.Day()+days, 0, 0, 0, 0, d.zone).UTC()
	}
	return notify.Message{
		Kind: notify.PointsEarned, Facts: notify.Facts{Points: &notify.Points{Since: midnight(0), Until: midnight(1)}},
		DedupeKey: fmt.Sprintf("%s:%d:%s", notify.PointsEarned, of, local.Format(time.DateOnly)), DueAt: midnight(1), ExpiresAt: midnight(1).Add(notify.Life),
	}
}

// mailReward leaves the e-mail about a reward that can be used, with its code.
func (d *memberTx) mailReward(ctx context.Context, r Reward) error {
	if !d.shop.Settings.Sends(notify.RewardIssued) {
		return nil
	}
	who, err := d.tx.CustomerByID(ctx, r.Customer)
	if err != nil {
		return err
	}
	list, err := d.to(who, notify.Message{
		Kind: notify.RewardIssued, Facts: notify.Facts{Points: &notify.Points{Reward: int64(r.ID)}}, DedupeKey: fmt.Sprintf("%s:%d", notify.RewardIssued, r.ID),
	})
	if err != nil {
		return err
	}
	return notify.Queue(ctx, d.tx, d.shop.ID, list...)
}
