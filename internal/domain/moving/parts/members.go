package parts

import (
	"context"
	"fmt"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
)

// members moves members of the loyalty programme with their points. A member is found here by the
// platform's number of the customer, and its points by a key that has the number.
type members struct{}

func (members) judge(ctx context.Context, j *job, p moving.Part) (list []moving.Finding, err error) {
	m := *p.Data.Member
	f := (*moving.Findings)(&list)
	program, err := j.Points.Program(ctx, j.store.ID)
	if err != nil {
		return nil, err
	}
	if !program.Active {
		f.Add(moving.Stays, "loyaltyInactive", "", "The store's loyalty programme is not active here: start it, then read the parts again.")
		return list, nil
	}
	if m.Excluded {
		f.Add(moving.Stays, "memberExcluded", "customerStatus", "The customer does not take part in the programme there.")
	}
	if known, err := j.checkCustomer(ctx, f, m.Customer); err != nil || !known {
		return list, err
	}
	if m.Available < 0 {
		f.Add(moving.Changes, "pointsNegative", "availablePoints", "The balance is %s points: the member begins with none.", m.Available)
	}
	if m.Pending > 0 {
		f.Add(moving.Changes, "pointsPending", "pendingPoints", "%s points are pending there and are not carried over: add them by hand once they were approved there.", m.Pending)
	}
	is, err := j.Points.Member(ctx, j.store, loyalty.CustomerRef{Customer: m.Customer}, "")
	switch {
	case err == nil && !p.MadeAt.IsZero() && is.Status != loyalty.Excluded:
		f.Add(moving.Changes, pointsFollow, "availablePoints", "The member has %s points there by now: those here change by what was earned and spent there since they were brought.", m.Available)
	case err == nil && is.Status == loyalty.Excluded:
		f.Add(moving.Stays, "customerExcluded", "customerStatus", "The customer is excluded from the programme here.")
	case err == nil:
		f.Add(moving.Changes, "memberExists", "", "The customer is a member here with %s points: those from there are added.", is.Sums.Available)
	case !fault.Is(err, fault.NotFound):
		return nil, err
	}
	return list, nil
}

func (members) make(ctx context.Context, j *job, p *moving.Part) error {
	m := *p.Data.Member
	sent, elsewhere, err := j.exchanged(ctx, m.Customer)
	if err != nil {
		return err
	}
	follow := !p.Filed && j.move.Peer.Loyalty != "" && !elsewhere
	points := max(m.Available, 0) - sent
	if !follow {
		points = max(m.Available, 0)
	}
	made, posted, err := j.Points.Import(ctx, j.store.ID, loyalty.ImportCommand{
		Who: loyalty.Person{Customer: m.Customer, Email: m.Email, FirstName: m.FirstName, LastName: m.LastName}, Born: m.Born,
		Points: points, Key: broughtKey(m.Customer), Follow: follow, Actor: activity.System,
	})
	if err != nil {
		return err
	}
	p.Here, p.Name = int64(made.ID), ""
	p.Data.Member = &moving.Member{Customer: m.Customer, Available: m.Available, Pending: m.Pending, Earned: m.Earned} // the rest is no longer needed
	f := (*moving.Findings)(&p.Findings)
	switch p.Data.Member.Available += posted - points; {
	case posted == points:
	case follow:
		f.Add(moving.Changes, "pointsSpentTwice", "availablePoints", "%s points that were spent there were spent here too: they are taken off once the member has them.", posted-points)
	default: // they came from elsewhere, or from another file
		f.Add(moving.Changes, changedThere, "availablePoints", "%s points were brought before, and the member has %s there now: add the difference by hand.", posted, m.Available)
	}
	p.Judge(p.Findings)
	return nil
}

// pointsFollow is the code of a member whose points have changed since they were moved.
const pointsFollow = "pointsFollow"

// exchanged returns the points of a customer that moves have sent to the programme of this move's peer, and whether the
// customer's points came from elsewhere.
func (j *job) exchanged(ctx context.Context, customer int64) (sent loyalty.Points, elsewhere bool, err error) {
	all, err := j.moves(ctx)
	if err != nil {
		return 0, false, err
	}
	match := moving.PartMatch{Kind: moving.MemberPart, There: []string{fmt.Sprint(customer)}}
	err = j.Store.View(ctx, j.store.ID, func(tx moving.ReadTx) error {
		for _, m := range all {
			same := m.Peer.Loyalty == j.move.Peer.Loyalty
			if same == (m.Direction == moving.In) {
				continue
			}
			parts, err := tx.MoveParts(ctx, m.ID, match, moving.PartKey{}, 1)
			if err != nil {
				return err
			}
			for _, p := range parts {
				if same && p.Data.Member != nil {
					sent += p.Data.Member.Sent
				}
				elsewhere = elsewhere || !same && m.Direction == moving.In && !p.MadeAt.IsZero()
			}
		}
		return nil
	})
	return sent, elsewhere, err
}

// broughtKey names the points that are brought for a customer, once in all moves.
func broughtKey(customer int64) string { return fmt.Sprintf("moved|customer:%d", customer) }

func (members) changed(was, is moving.PartData) string {
	if was.Member == nil || is.Member == nil || was.Member.Available == is.Member.Available {
		return ""
	}
	return fmt.Sprintf("the member had %s points and has %s", was.Member.Available, is.Member.Available)
}
