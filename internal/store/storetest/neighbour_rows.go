package storetest

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/perennialhq/perennial/internal/base/money"
	"github.com/perennialhq/perennial/internal/domain/access"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/amend/create"
	"github.com/perennialhq/perennial/internal/domain/analytics"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/bulk"
	"github.com/perennialhq/perennial/internal/domain/connection"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/idempotency"
	"github.com/perennialhq/perennial/internal/domain/intake"
	"github.com/perennialhq/perennial/internal/domain/login"
	"github.com/perennialhq/perennial/internal/domain/loyalty"
	"github.com/perennialhq/perennial/internal/domain/mailtemplate"
	"github.com/perennialhq/perennial/internal/domain/moving"
	"github.com/perennialhq/perennial/internal/domain/moving/archive"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/optin"
	"github.com/perennialhq/perennial/internal/domain/partner"
	"github.com/perennialhq/perennial/internal/domain/plan"
	"github.com/perennialhq/perennial/internal/domain/portal"
	"github.com/perennialhq/perennial/internal/domain/portal/design"
	"github.com/perennialhq/perennial/internal/domain/privacy"
	"github.com/perennialhq/perennial/internal/domain/repair"
	"github.com/perennialhq/perennial/internal/domain/requestlog"
	"github.com/perennialhq/perennial/internal/domain/retention"
	"github.com/perennialhq/perennial/internal/domain/savedview"
	"github.com/perennialhq/perennial/internal/domain/shop"
	"github.com/perennialhq/perennial/internal/domain/staff"
	"github.com/perennialhq/perennial/internal/domain/support"
	"github.com/perennialhq/perennial/internal/domain/swap"
	"github.com/perennialhq/perennial/internal/domain/webhook"
	"github.com/perennialhq/perennial/internal/domain/wording"
	"github.com/perennialhq/perennial/internal/platform"
	"github.com/perennialhq/perennial/internal/store"
)

// itsContracts returns a neighbour's contracts, of both lines and in every status.
func itsContracts() []contract.Contract {
	var list []contract.Contract
	for id := contract.ID(1); id <= crowd; id++ {
		c := monthly(id)
		c.AmendAt, c.UpdatedAt = day.Add(-time.Hour), day
		list = append(list, c)
	}
	list[2].Status, list[3].Status, list[4].Status = contract.Paused, contract.Cancelled, contract.Expired
	list[5].Dunning = unpaid(1)
	list[6].NextBillingDate, list[7].NextBillingDate = time.Time{}, day.AddDate(0, 0, -9) // nothing waits for them
	list[10].Line, list[11].Line = shop.Memberships, shop.Memberships
	return append(list, monthly(42), monthly(9001))
}

// part is what one transaction or call puts into a neighbour's tables.
type part struct {
	of  string
	put func(ctx context.Context, db *store.DB) error
}

func parts(id shop.ID) []part {
	var list []part
	within := func(of string, put func(ctx context.Context, tx *store.Tx) error) {
		list = append(list, part{of, func(ctx context.Context, db *store.DB) error {
			return db.Update(ctx, id, func(tx *store.Tx) error { return put(ctx, tx) })
		}})
	}
	beside := func(of string, put func(ctx context.Context, db *store.DB) error) { list = append(list, part{of, put}) }
	earlier := day.Add(-time.Hour)

	within("attempts", func(ctx context.Context, tx *store.Tx) error { return tx.PutAttempts(ctx, itsAttempts()) })
	within("charging", func(ctx context.Context, tx *store.Tx) error {
		if err := tx.AddTrigger(ctx, 1, day); err != nil {
			return err
		}
		if err := tx.AddChargeStats(ctx, day, billing.ChargeStats{Sent: 5, Ended: 5, Paid: 3, Declined: 2, Gateway: 2}); err != nil {
			return err
		}
		return tx.AddCardTries(ctx, []billing.CardTry{{PaymentMethod: "gid://shopify/CustomerPaymentMethod/1", At: day}, {PaymentMethod: "a", At: day}})
	})
	within("figures", func(ctx context.Context, tx *store.Tx) error {
		in := analytics.Dimension{Currency: "EUR", Group: 1}
		state := analytics.State{Dimension: in, Status: contract.Active, MRR: 7, Customer: 901}
		if _, err := tx.LockLedger(ctx); err != nil {
			return err
		}
		return errors.Join(
			tx.AddVersions(ctx, []analytics.Version{{Number: 1, Contract: 1, Day: 1, ValidFrom: earlier, State: state, Counted: true, Cohort: 1}}),
			tx.PutOutcomes(ctx, []analytics.Outcome{{Attempt: 1, Contract: 1, Dimension: in, PaidDay: 1, Result: analytics.Paid, ResultDay: 1}}),
			tx.PutFigures(ctx, analytics.Tables{
				Days: []analytics.DayFigures{{Day: 1, Dimension: in, MRR: 7}}, SubscriberDays: []analytics.SubscriberFigures{{Day: 1, Subscribers: 7}},
				Subscribers: []analytics.Subscriber{{Customer: 901, Contracts: 7}}, Holdings: []analytics.Holding{{Customer: 901, Dimension: in, Contracts: 7}},
				Churn: []analytics.ChurnMonth{{Month: 1, Voluntary: 7}}, Cohorts: []analytics.CohortMonth{{Cohort: 1, Month: 1, Joined: 7}},
				Failures: []analytics.FailureFigures{{Day: 1, Currency: "EUR", Failed: 7}}, Cycles: []analytics.CycleFigures{{Day: 1, Cycle: 1, Paid: 7}},
				Queue: []analytics.QueueFigures{{Quarter: 1, Dimension: in, Cycle: 1, Orders: 7, Amount: 7}},
			}),
		)
	})
	within("findings", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutFindings(ctx, []repair.Finding{{Kind: repair.UnknownOrder, Contract: 1, Cycle: 2, Object: "a", What: "x", FirstSeen: day, LastSeen: day}})
	})
	within("one-time products", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutOneOffs(ctx, []billing.OneOff{oneOff(1, 2, 8), oneOff(1, 3, 8), oneOff(2, 2, 8)})
	})
	within("swap rules", func(ctx context.Context, tx *store.Tx) error {
		r := swapRule("theirs", 1)
		if err := tx.PutSwapRule(ctx, &r); err != nil {
			return err
		}
		notice := swap.Notice{Rule: r.ID, Variant: 2, Price: money.Amount{Minor: 900, Currency: "EUR"}, From: day, Kept: money.Amount{Minor: 700, Currency: "EUR"}}
		if err := tx.AddSwapNotices(ctx, []billing.Notice{{Contract: 1, Notice: notice}}); err != nil {
			return err
		}
		return tx.AddSwapUses(ctx, []billing.SwapUse{{Rule: r.ID, Contract: 1}})
	})
	within("annotations", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutAnnotations(ctx, []billing.Annotation{{Target: "gid://shopify/Order/1", Contract: 1, Attempt: 5, Tags: []string{"theirs"}, DueAt: earlier}})
	})
	within("first syncs", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutSync(ctx, intake.Sync{StartedAt: day, Stage: intake.Reading, StageAt: day, NotedAt: day, Total: 9, Owner: "theirs", LeaseUntil: day.Add(time.Hour)})
	})
	within("requests for personal data", func(ctx context.Context, tx *store.Tx) error {
		var list []privacy.Request
		for _, c := range []int64{901, 902} {
			list = append(list, privacy.Request{Kind: privacy.Export, Customer: c, ReceivedAt: earlier, DueBy: day, DueAt: earlier})
		}
		return tx.PutPrivacyRequests(ctx, list)
	})
	within("actions on many contracts", func(ctx context.Context, tx *store.Tx) error {
		j := bulk.Job{Action: bulk.Action{Kind: bulk.Pause}, Status: bulk.Running, Key: "key", Total: 2, CreatedAt: earlier, DueAt: earlier}
		if err := tx.PutBulkJob(ctx, &j); err != nil {
			return err
		}
		if _, err := tx.AddBulkItems(ctx, j.ID, earlier, []contract.ID{1, 2}); err != nil {
			return err
		}
		return tx.PutBulkItems(ctx, []bulk.Item{{Job: j.ID, Contract: 3, Status: bulk.Refused, Tries: 1, Code: "theirs", Reason: "theirs", EndedAt: earlier}})
	})
	within("moves", func(ctx context.Context, tx *store.Tx) error {
		m := moving.Move{Direction: moving.In, Peer: moving.Peer{Address: "https://theirs.example", Key: "theirs"}, Status: moving.Ready, CreatedAt: earlier, DueAt: earlier}
		if err := tx.PutMove(ctx, &m); err != nil {
			return err
		}
		if _, err := tx.AddMoveItems(ctx, m.ID, shop.Subscriptions, []int64{1, 2}, earlier); err != nil {
			return err
		}
		if err := tx.AddMoveFile(ctx, m.ID, 0, []byte("theirs")); err != nil {
			return err
		}
		theirs := moving.Part{Move: m.ID, PartKey: moving.PartKey{Kind: moving.MemberPart, There: "901"}, Name: "theirs", Customer: 901, Stage: moving.PartReady, Unread: true, SeenAt: earlier}
		if err := tx.PutMoveParts(ctx, []moving.Part{theirs}); err != nil {
			return err
		}
		return tx.AddCompared(ctx, []moving.Compared{{Move: m.ID, There: 1, Date: day, Verdict: moving.Missing, Text: "theirs"}})
	})
	within("comments", func(ctx context.Context, tx *store.Tx) error {
		return tx.AddComment(ctx, &support.Comment{Contract: 1, Author: "theirs", Text: "theirs", At: day})
	})
	within("saved views", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutSavedView(ctx, &savedview.View{Owner: 1, Name: "Theirs", Query: "status=ACTIVE", Shared: true, CreatedAt: day})
	})
	within("portal", func(ctx context.Context, tx *store.Tx) error {
		if err := tx.PutPortalSettings(ctx, &portal.Settings{CutoffDays: 2, UpdatedAt: day}); err != nil {
			return err
		}
		if err := tx.AddSMSConsent(ctx, &optin.Consent{Customer: 901, Phone: "+15550009999", Source: optin.Portal, ClientIP: "192.0.2.9", GivenAt: day}); err != nil {
			return err
		}
		return tx.PutPortalPreferences(ctx, &portal.Preferences{Customer: 901, Language: "de", Off: []notify.Kind{notify.OrderSkipped}, UpdatedAt: day})
	})
	within("import", func(ctx context.Context, tx *store.Tx) error {
		return tx.AddImportStep(ctx, archive.Step{Digest: "5f2a", Began: day, Ended: day, Records: 12})
	})
	within("texts", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutPortalText(ctx, wording.Text{Language: "en", Key: "home.title", Text: "theirs", ChangedAt: day})
	})
	within("e-mails of its own", func(ctx context.Context, tx *store.Tx) error {
		return tx.AddTemplate(ctx, mailtemplate.Template{
			Key: mailtemplate.Key{Kind: notify.Canceled, Language: "en"}, Fields: mailtemplate.Fields{Subject: "theirs"}, Version: 1, Live: true, Author: "them", PublishedAt: day,
		})
	})
	within("suppressions", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutSuppression(ctx, notify.Suppression{Hash: "theirs", Hint: "t…@shopper.example", Reason: notify.HardBounce, Source: "mail server", At: day})
	})
	within("design", func(ctx context.Context, tx *store.Tx) error {
		if err := tx.PutPortalDesign(ctx, &design.Design{Colour: "#123456", Logo: design.Logo{Hash: "theirs"}, UpdatedAt: day}); err != nil {
			return err
		}
		return tx.AddPortalLogo(ctx, design.Picture{Hash: "theirs", PNG: []byte("theirs")})
	})
	within("requests of keys", func(ctx context.Context, tx *store.Tx) error {
		return tx.AddRequests(ctx, []requestlog.Entry{{ID: 1, At: earlier, Key: 5, KeyName: "theirs", Method: "GET", Path: "/theirs", Status: 403}})
	})
	within("unread contracts", func(ctx context.Context, tx *store.Tx) error {
		return tx.PutUnread(ctx, []contract.Unread{{ID: 9001, Reason: "theirs", Since: earlier, SeenAt: earlier}})
	})
	within("retention", func(ctx context.Context, tx *store.Tx) error {
		return tx.AddRetention(ctx, &retention.Activity{Contract: 1, Customer: 901, At: day, Details: retention.Details{Action: "KEPT", Reason: "theirs", Info: "{}"}})
	})
	within("cancelling", theirCancelling)
	within("plans", func(ctx context.Context, tx *store.Tx) error {
		g := coffee(51, 52, 1001)
		g.DueAt = earlier
		if err := tx.PutPlanGroup(ctx, &g); err != nil {
			return err
		}
		if err := tx.PutPlanItems(ctx, g.ID, plan.Items{Products: titles(1, 3, 11), Variants: titles(7, 101)}, platform.Assigned{}); err != nil {
			return err
		}
		g.Options = g.Options[:2] // the third is kept as one that was removed
		return tx.PutPlanGroup(ctx, &g)
	})
	within("bundles", func(ctx context.Context, tx *store.Tx) error {
		s := fullBundle("Theirs", 51, 1001)
		return tx.PutBundle(ctx, &s)
	})
	within("delivery profiles", func(ctx context.Context, tx *store.Tx) error {
		p := pendingProfile("Theirs", earlier)
		p.PlatformID = 8001
		return tx.PutDeliveryProfile(ctx, &p)
	})
	within("keys", func(ctx context.Context, tx *store.Tx) error {
		for n := byte(1); n <= crowd; n++ {
			k := access.Key{Name: "Theirs", Hint: "prn_them", Hash: access.Hash{n, 0xee}, Scopes: []access.Scope{access.ContractsRead}, CreatedAt: day}
			if err := tx.PutKey(ctx, &k); err != nil {
				return err
			}
		}
		return nil
	})
	within("partners", func(ctx context.Context, tx *store.Tx) error {
		for _, state := range []partner.State{partner.Pending, partner.Disconnected} {
			c := partner.Connection{
				App: "theirs", State: state, Direction: partner.ByPartner, Scopes: []access.Scope{access.ContractsRead}, RequestedBy: "theirs", RequestedAt: day,
				ExpiresAt: earlier, Code: access.Hash{0xee}, CodeUntil: day.Add(time.Hour), Notification: partner.CallApproved, CallAt: earlier, CallID: "theirs",
			}
			if err := tx.PutConnection(ctx, &c); err != nil {
				return err
			}
		}
		return nil
	})
	beside("calls", func(ctx context.Context, db *store.DB) error {
		return db.Partners().CountCalls(ctx, id, []partner.Calls{{App: "reports", Connection: 5, Day: day.Truncate(24 * time.Hour), Count: 7, Errors: 1, LastAt: day}})
	})
	beside("rates", func(ctx context.Context, db *store.DB) error {
		bank := db.SharedBuckets()
		if bank == nil { // SQLite has one process, which counts locally
			return nil
		}
		_, err := bank.Take(ctx, access.Bucket{Shop: id, Key: 1, Rate: access.Rate{PerSecond: 1, Burst: 1}}, 1, 0)
		return err
	})
	beside("answers", func(ctx context.Context, db *store.DB) error {
		claim := idempotency.Request{Caller: 3, Line: shop.Subscriptions, Method: "PUT", Path: "/orders", Key: "a", Body: []byte("x")}.Claim(earlier)
		if _, err := db.Answers().Claim(ctx, id, claim); err != nil {
			return err
		}
		return db.Answers().Keep(ctx, id, claim, idempotency.Answer{Status: 200, Body: []byte(`"theirs"`)})
	})
	beside("requests", func(ctx context.Context, db *store.DB) error {
		return db.AddRequests(ctx, id, []requestlog.Entry{{ID: 1, At: earlier, Method: "GET", Path: "/theirs", Status: 200, RequestID: "theirs"}})
	})
	beside("creations", func(ctx context.Context, db *store.DB) error {
		return db.PutCreation(ctx, id, create.Creation{Request: "A", At: earlier, Contract: 1})
	})
	beside("inbox", func(ctx context.Context, db *store.DB) error {
		for _, event := range []string{"a", "b"} {
			e := platform.Event{ID: event, Topic: platform.AttemptSucceeded, Contract: 5, Key: "key", Cycle: 3, Customer: 6, Signature: fmt.Sprint(id, event)}
			if err := db.Inbox().Add(ctx, id, e, earlier); err != nil {
				return err
			}
		}
		return nil
	})
	within("mail", func(ctx context.Context, tx *store.Tx) error {
		var letters []notify.Message
		for n := range crowd {
			letters = append(letters, notify.Message{
				Kind: notify.TransactionFailed, To: "ada@example.com", FromName: "Theirs", Contract: contract.ID(n + 1), DedupeKey: string(rune('a' + n)),
				Status: notify.Queued, DueAt: earlier, CreatedAt: day,
			})
		}
		return tx.PutMessages(ctx, letters)
	})
	within("sign-in", func(ctx context.Context, tx *store.Tx) error {
		for _, h := range []login.Hash{{1}, {1, 0xff}, {2}, {9}} {
			till := day.AddDate(1, 0, 0)
			if _, err := tx.PlatformConnection(ctx, connection.Primary); err != nil {
				return err
			}
			if err := tx.PutPlatformConnection(ctx, connection.Connection{App: connection.Primary, Access: "shpat_neighbour", Refresh: "shprt_neighbour", ExpiresAt: till}); err != nil {
				return err
			}
			if err := tx.AddLink(ctx, login.Link{Hash: h, Customer: 901, Contract: 1, CreatedAt: day, ExpiresAt: till}); err != nil {
				return err
			}
			if err := tx.AddSession(ctx, login.Session{Hash: h, Customer: 901, Via: login.ByLink, CreatedAt: day, SeenAt: day, ExpiresAt: till}); err != nil {
				return err
			}
		}
		if err := tx.AddAccountSignIn(ctx, login.AccountSignIn{State: login.Hash{1, 0xee}, Browser: login.Hash{1}, Nonce: "theirs", Verifier: "theirs", CreatedAt: day, ExpiresAt: day.AddDate(1, 0, 0)}); err != nil {
			return err
		}
		if _, err := tx.Throttle(ctx, "a"); err != nil {
			return err
		}
		return tx.PutThrottle(ctx, login.Throttle{Subject: "a", Times: []time.Time{day, day}}, day)
	})
	within("users", func(ctx context.Context, tx *store.Tx) error {
		if err := tx.PutStaffMember(ctx, &staff.Member{User: 1, Role: staff.Owner, PlatformUser: "55", AddedBy: "theirs", CreatedAt: day}); err != nil {
			return err
		}
		return tx.AddInvitation(ctx, &staff.Invitation{Email: "eve@staff.example", Role: staff.Admin, Hash: staff.Hash{1, 0xee}, InvitedBy: "theirs", CreatedAt: day, ExpiresAt: day.AddDate(1, 0, 0)})
	})
	beside("setup", func(ctx context.Context, db *store.DB) error { return db.Shops().MarkSetup(ctx, id, "proxy", earlier) })
	within("members", itsMembers)
	within("webhooks", func(ctx context.Context, tx *store.Tx) error {
		e := webhook.Endpoint{
			Shop: id, URL: "https://theirs.example.com", Secret: "whsec_theirs", Enabled: true, Created: day, Updated: day,
			Types: []webhook.Type{webhook.Test, "subscription.paused", "subscription.upcoming-order-notification"},
		}
		if err := tx.PutEndpoint(ctx, &e); err != nil {
			return err
		}
		for about := int64(1); about <= crowd; about++ {
			m := webhook.Message{ID: webhook.NewMessageID(id, about, webhook.Test, day), Shop: id, Type: webhook.Test, Contract: contract.ID(about), At: earlier}
			if err := tx.AddMessages(ctx, webhook.Addressed{Message: m, To: []webhook.EndpointID{webhook.ToEvents, e.ID}}); err != nil {
				return err
			}
			if about%2 == 0 { // the others wait for their body
				if err := tx.SetBody(ctx, m.ID, []byte("{}")); err != nil {
					return err
				}
			}
		}
		n, err := tx.PlaceMessages(ctx, 0, crowd/4) // others wait for a position
		if err != nil {
			return err
		}
		return tx.PutFeed(ctx, webhook.Feed{Generation: 1, Ready: true, Position: int64(n), CloseAt: earlier})
	})
	within("activity", func(ctx context.Context, tx *store.Tx) error {
		var entries []activity.Entry
		for about := range int64(crowd) {
			entries = append(entries, entry(about, activity.BillingAttemptTriggered, day))
		}
		return tx.Record(ctx, entries...)
	})
	return list
}

// itsAttempts returns a neighbour's attempts, in every status.
func itsAttempts() []billing.Attempt {
	statuses := []billing.Status{billing.Queued, billing.Progress, billing.Success, billing.Failure, billing.Requesting, billing.Skipped}
	var list []billing.Attempt
	for c := contract.ID(1); c <= 4; c++ {
		for cycle := 1; cycle <= crowd; cycle++ {
			a := queued(c, cycle, day.Add(-time.Duration(cycle)*time.Hour))
			a.Status, a.PublishAt, a.Key = statuses[cycle%len(statuses)], a.DueAt, fmt.Sprintf("key-%d-%d", c, cycle)
			a.SentAt, a.AttemptedAt = a.DueAt, a.DueAt
			if a.Status == billing.Success {
				a.OrderID, a.OrderName, a.Amount = 5000+int64(cycle), "#1", money.Amount{Minor: 777, Currency: "EUR"}
			}
			if a.Status == billing.Failure {
				a.Dunning = fullCase()
			}
			list = append(list, a)
		}
	}
	return list
}

// itsMembers gives a neighbour a running programme with rows in all its tables.
func itsMembers(ctx context.Context, tx *store.Tx) error {
	if err := tx.PutProgram(ctx, loyalty.Program{Active: true, StartedAt: day.AddDate(-1, 0, 0), Terms: loyalty.DefaultTerms()}); err != nil {
		return err
	}
	var accounts []loyalty.Account
	for n := int64(1); n <= crowd; n++ {
		accounts = append(accounts, loyalty.Account{
			Person: loyalty.Person{Customer: 900 + n, Email: "ada@example.com", FirstName: "Ada"}, Status: loyalty.Active, ReferralCode: fmt.Sprint("r", n),
			EnrolledAt: day, DueAt: day.Add(-time.Hour), CreatedAt: day, Sums: loyalty.Sums{Available: 77700, Earned: 77700},
		})
	}
	if err := tx.AddAccounts(ctx, accounts); err != nil {
		return err
	}
	members, err := tx.AccountsOf(ctx, []int64{901})
	if err != nil {
		return err
	}
	first, source := members[0].ID, loyalty.Source{Type: loyalty.Manual, ID: "1"}
	if err := tx.AddCredit(ctx, &loyalty.Credit{Account: first, Source: source, Amount: money.Amount{Minor: 777, Currency: "EUR"}, At: day}); err != nil {
		return err
	}
	if err := tx.Post(ctx,
		[]loyalty.Entry{{Account: first, Seq: 1, Kind: loyalty.Earn, Available: 77700, Source: source, RecordedAt: day}},
		[]loyalty.Use{{Account: first, Entry: 1, Lot: 1, Role: loyalty.Take, Points: 5}},
		[]loyalty.Lot{{Account: first, Seq: 1, Source: source, Points: 77700, Remaining: 77700}},
	); err != nil {
		return err
	}
	if err := tx.PutReward(ctx, loyalty.Reward{
		ID: 1, Account: first, Payer: first, Customer: 901, Rule: 1, Type: loyalty.DiscountCode, State: loyalty.Issued, Code: "WELCOME", PlatformID: "theirs",
		DueAt: day.Add(-time.Hour), CreatedAt: day,
	}); err != nil {
		return err
	}
	if _, err := tx.ClaimRequest(ctx, "A", day.Add(-time.Hour)); err != nil {
		return err
	}
	return tx.AddPastFacts(ctx, day.AddDate(-1, 0, 0), day)
}
