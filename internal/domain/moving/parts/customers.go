package parts

import (
	"context"
	"slices"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/portal"
)

// customers moves what a file says of customers: their language, and that they refused e-mails. What a
// customer has set here stays, so that it can be set again.
type customers struct{}

// refusedKinds are the e-mails that a customer does not get who refused e-mails elsewhere: those that
// are not about orders.
func refusedKinds() []notify.Kind {
	return append([]notify.Kind{notify.StoreNews}, notify.MemberKinds...)
}

func (customers) judge(ctx context.Context, j *job, p moving.Part) (list []moving.Finding, err error) {
	c := *p.Data.Customer
	f := (*moving.Findings)(&list)
	if known, err := j.checkCustomer(ctx, f, c.ID); err != nil || !known {
		return list, err
	}
	if c.Phone != "" {
		f.Add(moving.Changes, "smsConsent", "phone", "Agreement to SMS is not carried over: only the customer can give it.")
	}
	if c.Born != "" {
		_, err := j.Points.Member(ctx, j.store, loyalty.CustomerRef{Customer: c.ID}, "")
		switch {
		case fault.Is(err, fault.NotFound):
			f.Add(moving.Changes, "birthdayLeftOut", "birthday", "The birthday is kept with members of the loyalty programme: it is left out unless the customer is one when it is made.")
		case err != nil:
			return nil, err
		}
	}
	return list, nil
}

func (customers) make(ctx context.Context, j *job, p *moving.Part) error {
	c := *p.Data.Customer
	who := portal.Caller{Shop: j.store, Actor: activity.Actor{Source: activity.SystemEvent, Customer: c.ID}}
	is, err := j.Portal.Preferences(ctx, who)
	if err != nil {
		return err
	}
	want := is
	if want.Language == "" {
		want.Language = c.Language
	}
	if c.Mails != nil && !*c.Mails && is.Version == 0 {
		want.Off = refusedKinds()
	}
	if want.Language != is.Language || !slices.Equal(want.Off, is.Off) {
		if _, err := j.Portal.SetPreferences(ctx, who, want); err != nil {
			return err
		}
	}
	if err := j.setBorn(ctx, c); err != nil {
		return err
	}
	p.Here, p.Name = c.ID, ""
	p.Data.Customer = &moving.Customer{ID: c.ID} // the rest is no longer needed
	return nil
}

// setBorn sets the birthday of a member that has none.
func (j *job) setBorn(ctx context.Context, c moving.Customer) error {
	if c.Born == "" {
		return nil
	}
	who := loyalty.CustomerRef{Customer: c.ID}
	m, err := j.Points.Member(ctx, j.store, who, "")
	if fault.Is(err, fault.NotFound) || err == nil && (m.Born != "" || m.Status != loyalty.Active) {
		return nil
	}
	if err != nil {
		return err
	}
	_, err = j.Points.Enrol(ctx, j.store.ID, loyalty.EnrolCommand{Who: who, Born: c.Born, Actor: activity.System})
	return err
}

func (customers) changed(moving.PartData, moving.PartData) string { return "" }
