package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/retention/flow"
	"github.com/perennialhq/perennial/internal/domain/retention/report"
	"github.com/perennialhq/perennial/internal/domain/retention/session"
	"github.com/perennialhq/perennial/internal/store"
)

// aFlow is a flow with all that a flow can have.
func aFlow(version int) flow.Flow {
	return flow.Flow{
		Version: version, Mode: flow.Retention, Instructions: "Write to us.\nAt any time.", Support: "help@shop.example", HoldBack: 20, Budget: 50_000, Currency: "EUR",
		Reasons: []flow.Reason{
			{
				Key: "too-much", Label: map[string]string{"en": "Too much", "de": "Zu viel"}, Comment: true, PlanGroups: []int64{7},
				Offers: []flow.Offer{
					{Kind: flow.Skip, Orders: 2}, {Kind: flow.Discount, Orders: 3, Percent: 15}, {Kind: flow.Swap, Variants: []int64{4001, 4002}}, {Kind: flow.Frequency, Direction: flow.Rarer},
				},
			},
			{Key: "price", Label: map[string]string{"en": "Price"}, Offers: []flow.Offer{{Kind: flow.Discount, Orders: 1, Amount: money.Amount{Minor: 500, Currency: "EUR"}}, {Kind: flow.Pause, Months: 2}}},
		},
		PublishedAt: day, PublishedBy: "ana@shop.example",
	}
}

// aSession is a session of contract 1, with all that one can have.
func aSession() session.Session {
	return session.Session{
		Contract: 1, Customer: 5, Flow: 3, Step: session.Offering, Reason: "price", Comment: "too dear", Arm: session.Treated, PlanGroup: 7, Orders: 4,
		Offer: &session.Proposal{
			Offer: flow.Offer{Kind: flow.Discount, Orders: 3, Percent: 15}, Next: day.Add(time.Hour), Pays: money.Amount{Minor: 850, Currency: "EUR"}, Was: money.Amount{Minor: 1000, Currency: "EUR"},
			Costs: money.Amount{Minor: 450, Currency: "EUR"}, Skips: []session.Skipped{{Attempt: 9, Date: day, Amount: money.Amount{Minor: 1000, Currency: "EUR"}}},
			Choices: []session.Choice{{Key: "k", Title: "Tea", Variant: 4001, Quantity: 1}}, Chosen: "k",
		},
		Moves: []session.Move{{Step: session.Asking, At: day, Choice: "price"}}, StartedAt: day, OfferedAt: day.Add(time.Minute), DueAt: day.Add(24 * time.Hour),
	}
}

func testCancelling(t *testing.T, open opener) {
	t.Run("versions of a flow are kept as they were published, and each once", func(t *testing.T) {
		w := begin(t, open)
		w.in(func(tx *store.Tx) error {
			f, err := tx.CancelFlow(t.Context())
			if f.Version != 0 || err != nil {
				t.Errorf("a store without a flow has %+v, %v", f, err)
			}
			if err := tx.AddCancelFlow(t.Context(), aFlow(1)); err != nil {
				return err
			}
			return tx.AddCancelFlow(t.Context(), aFlow(2))
		})
		w.in(func(tx *store.Tx) error {
			first, err := tx.CancelFlowAt(t.Context(), 1)
			if diff := cmp.Diff(aFlow(1), first); diff != "" || err != nil {
				t.Errorf("%v, %s", err, diff)
			}
			last, err := tx.CancelFlow(t.Context())
			if last.Version != 2 || err != nil {
				t.Errorf("the newest is %d, %v", last.Version, err)
			}
			list, err := tx.CancelFlows(t.Context(), 1)
			if len(list) != 1 || list[0].Version != 2 || err != nil {
				t.Errorf("listed %+v, %v", list, err)
			}
			_, err = tx.CancelFlowAt(t.Context(), 3)
			w.wantKind(err, fault.NotFound)
			return nil
		})
		w.wantKind(w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.AddCancelFlow(t.Context(), aFlow(2)) }), fault.Conflict)
	})
	open.twice(t, "sessions are kept whole, one of a contract is open, and those that are left open are found", func(t *testing.T, open opener) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		is := aSession()
		w.in(func(tx *store.Tx) error {
			is.ID, is.Version = 0, 0
			return tx.PutCancelSession(t.Context(), &is)
		})
		w.in(func(tx *store.Tx) error {
			got, err := tx.CancelSession(t.Context(), is.ID)
			if diff := cmp.Diff(is, got); diff != "" || err != nil || is.ID == 0 {
				t.Errorf("%v, %s", err, diff)
			}
			got, found, err := tx.OpenCancelSession(t.Context(), 1)
			if got.ID != is.ID || !found || err != nil {
				t.Errorf("open: %+v, %t, %v", got, found, err)
			}
			if _, found, err = tx.OpenCancelSession(t.Context(), 2); found || err != nil {
				t.Errorf("open of another contract: %t, %v", found, err)
			}
			of, err := tx.CancelSessionContract(t.Context(), is.ID)
			if of != 1 || err != nil {
				t.Errorf("of contract %d, %v", of, err)
			}
			_, err = tx.CancelSessionContract(t.Context(), 9_999_999)
			w.wantKind(err, fault.NotFound)
			_, err = tx.CancelSession(t.Context(), 9_999_999)
			w.wantKind(err, fault.NotFound)
			due, err := tx.DueCancelSessions(t.Context(), is.DueAt, 10)
			if len(due) != 1 || due[0] != is.ID || err != nil {
				t.Errorf("due: %v, %v", due, err)
			}
			if due, err = tx.DueCancelSessions(t.Context(), is.DueAt.Add(-time.Millisecond), 10); len(due) != 0 || err != nil {
				t.Errorf("due before: %v, %v", due, err)
			}
			mine, err := tx.CancelSessionsOf(t.Context(), 5, day)
			if len(mine) != 1 || err != nil {
				t.Errorf("of the customer: %+v, %v", mine, err)
			}
			if mine, err = tx.CancelSessionsOf(t.Context(), 5, day.Add(time.Millisecond)); len(mine) != 0 || err != nil {
				t.Errorf("of the customer, since later: %+v, %v", mine, err)
			}
			return nil
		})
		if ids, err := w.across(w.db.Shops().DueCancelShops, is.DueAt, 10); len(ids) != 1 || ids[0] != w.shop.ID || err != nil {
			t.Errorf("due: shops %v, %v", ids, err)
		}
		second := aSession()
		w.wantKind(w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutCancelSession(t.Context(), &second) }), fault.Conflict)
		stale := is
		w.in(func(tx *store.Tx) error {
			is.Comment = "changed"
			return tx.PutCancelSession(t.Context(), &is)
		})
		w.wantKind(w.db.Update(t.Context(), w.shop.ID, func(tx *store.Tx) error { return tx.PutCancelSession(t.Context(), &stale) }), fault.Conflict)
		other := w.addShop("other.myshopify.com")
		w.wantKind(w.db.Update(t.Context(), other.ID, func(tx *store.Tx) error {
			_, err := tx.CancelSession(t.Context(), is.ID)
			return err
		}), fault.NotFound)
	})
	t.Run("a change that carries out an offer ends its session in its commit, and no other one", func(t *testing.T) {
		w := begin(t, open)
		w.put(monthly(1), monthly(2))
		accepting, other := aSession(), aSession()
		accepting.Step, accepting.AcceptedAt, accepting.Flow, other.Contract, other.Step, other.Flow = session.Accepting, day.Add(time.Hour), 0, 2, session.Accepting, 0
		w.in(func(tx *store.Tx) error {
			if err := tx.PutCancelSession(t.Context(), &accepting); err != nil {
				return err
			}
			return tx.PutCancelSession(t.Context(), &other)
		})
		note := func(event activity.EventType, status activity.Status, of session.ID) {
			t.Helper()
			w.in(func(tx *store.Tx) error {
				return session.NoteOutcomes(t.Context(), tx, []activity.Entry{{
					EntityID: 1, EntityType: activity.EntitySubscriptionContractDetails, Event: event, Status: status, At: day.Add(2 * time.Hour),
					Actor: activity.Actor{Source: activity.CustomerPortal, By: "customer", CancelSession: int64(of)},
				}})
			})
		}
		read := func(id session.ID) (s session.Session) {
			w.in(func(tx *store.Tx) (err error) {
				s, err = tx.CancelSession(t.Context(), id)
				return err
			})
			return s
		}
		note(activity.DiscountApplied, activity.PartialFailure, accepting.ID)
		note(activity.ProductReplace, activity.Success, accepting.ID)
		note(activity.DiscountApplied, activity.Success, 0)
		if is := read(accepting.ID); is.Step != session.Accepting {
			t.Errorf("a failure, another event or another actor ended it: %+v", is)
		}
		note(activity.DiscountApplied, activity.Success, accepting.ID)
		note(activity.DiscountApplied, activity.Success, accepting.ID)
		if is := read(accepting.ID); is.Step != session.Ended || is.Outcome != session.Accepted || is.Action != retention.DiscountApplied || !is.DueAt.IsZero() {
			t.Errorf("it is %+v", is)
		}
		if is := read(other.ID); is.Step != session.Accepting {
			t.Errorf("the other one is %+v", is)
		}
		w.in(func(tx *store.Tx) error {
			list, err := tx.RetentionsOf(t.Context(), 1)
			if len(list) != 1 || list[0].Action != retention.DiscountApplied || list[0].Discount != "15% x 3" || list[0].Customer != 5 {
				t.Errorf("recorded %+v", list)
			}
			spent, sumErr := tx.DiscountsSince(t.Context(), day, "EUR")
			if spent != 450 || sumErr != nil {
				t.Errorf("spent %d, %v", spent, sumErr)
			}
			if spent, sumErr = tx.DiscountsSince(t.Context(), day, "USD"); spent != 0 || sumErr != nil {
				t.Errorf("spent %d in another currency, %v", spent, sumErr)
			}
			if spent, sumErr = tx.DiscountsSince(t.Context(), day.Add(3*time.Hour), "EUR"); spent != 0 || sumErr != nil {
				t.Errorf("spent %d since, %v", spent, sumErr)
			}
			return err
		})
	})
	t.Run("sessions are summed up by what they have in common, with what lasted", func(t *testing.T) { testCancelReport(begin(t, open)) })
}

func testCancelReport(w world) {
	t := w
	for id := contract.ID(1); id <= 5; id++ {
		w.put(monthly(id))
	}
	end := day.Add(time.Hour)
	long := end.Add(report.Survival)
	add := func(of contract.ID, change func(*session.Session)) {
		s := aSession()
		s.Contract, s.Step, s.Outcome, s.DueAt, s.EndedAt, s.AcceptedAt = of, session.Ended, session.Accepted, time.Time{}, end, end
		change(&s)
		w.in(func(tx *store.Tx) error { return tx.PutCancelSession(t.Context(), &s) })
	}
	add(1, func(*session.Session) {})                                                                            // it goes on
	add(2, func(s *session.Session) { s.Comment = "" })                                                          // it will end after 59 days
	add(3, func(*session.Session) {})                                                                            // it will end after 61
	add(4, func(s *session.Session) { s.StartedAt, s.EndedAt, s.AcceptedAt = day.Add(48*time.Hour), long, end }) // it is too early to tell
	add(5, func(s *session.Session) { s.StartedAt = day.Add(-1) })                                               // before the period
	ended := map[contract.ID]time.Time{2: long.AddDate(0, 0, -1), 3: long.AddDate(0, 0, 1), 99: long}
	w.in(func(tx *store.Tx) error { return tx.LoseCancelSessions(t.Context(), ended) })
	w.in(func(tx *store.Tx) error {
		return session.NoteLosses(t.Context(), tx, []contract.Contract{{ID: 3, Status: contract.Cancelled, CancelledAt: day}, {ID: 1, Status: contract.Active}, {ID: 4, Status: contract.Paused}})
	})
	err := w.db.CancelReports().View(t.Context(), w.shop.ID, func(tx report.Reader) error {
		groups, err := tx.CancelGroups(t.Context(), day, day.AddDate(1, 0, 0), end.Add(time.Hour))
		want := []report.Group{{
			Version: 3, Reason: "price", Offer: flow.Discount, Shown: true, Arm: session.Treated, Outcome: session.Accepted, PlanGroup: 7, Band: 2, Sessions: 4, Ripe: 3, Survived: 2, Costs: 4 * 450,
		}}
		if diff := cmp.Diff(want, groups); diff != "" || err != nil {
			t.Errorf("%v, %s", err, diff)
		}
		comments, err := tx.CancelComments(t.Context(), day, day.AddDate(1, 0, 0), 10)
		if len(comments) != 3 || err != nil || comments[0].Contract != 4 {
			t.Errorf("comments %+v, %v", comments, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// theirCancelling adds a neighbour's rows.
func theirCancelling(ctx context.Context, tx *store.Tx) error {
	f := aFlow(1)
	f.PublishedBy = "theirs"
	if err := tx.AddCancelFlow(ctx, f); err != nil {
		return err
	}
	s := aSession()
	s.Customer, s.Comment, s.DueAt = 901, "theirs", day.Add(-time.Hour)
	return tx.PutCancelSession(ctx, &s)
}
