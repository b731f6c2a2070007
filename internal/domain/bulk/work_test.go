package bulk

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/billing"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/domain/notify"
	"github.com/perennialhq/perennial/internal/domain/shop"
)

var user = activity.Actor{Source: activity.MerchantPortal, By: "ana@shop.example", ClientIP: "192.0.2.1"}

// all selects every contract of a world.
func all() Selection { return Selection{Filter: &contract.Filter{Line: shop.Subscriptions}} }

// start previews an action and starts its job.
func (w *world) start(sel Selection, a Action) Job {
	w.t.Helper()
	p, err := w.service.Preview(w.t.Context(), store, sel, a, user)
	if err != nil {
		w.t.Fatal(err)
	}
	j, err := w.service.Start(w.t.Context(), store, Request{Action: a, Selection: sel, Previewed: p.Fingerprint, Typed: p.Total, Key: fmt.Sprint("key ", len(w.jobs)), By: user})
	if err != nil {
		w.t.Fatal(err)
	}
	return j
}

// work works once and returns a job.
func (w *world) work(id JobID) Job {
	w.t.Helper()
	if err := w.service.Work(w.t.Context(), store); err != nil {
		w.t.Fatal(err)
	}
	return w.jobs[id]
}

// log returns the entries about jobs.
func (w *world) log() (list []string) {
	for _, e := range w.entries {
		if e.EntityType == activity.EntityBulkAutomation {
			list = append(list, fmt.Sprintf("%s %s %s by %s", e.Actor.Source, e.Event, e.Status, e.Actor.By))
		}
	}
	return list
}

func code(err error) string {
	if err == nil {
		return ""
	}
	return codeOf(err)
}

func TestJobChangesEachContractOnce(t *testing.T) {
	t.Parallel()
	w := begin(t, 45)
	j := w.work(w.start(all(), Action{Kind: MoveNext, Days: 1}).ID)
	if j.Status != Finished || j.Total != 45 || j.Succeeded != 45 || j.Failed != 0 || len(w.calls) != 45 || j.EndedAt.IsZero() || !j.DueAt.IsZero() {
		t.Errorf("job %+v after %d calls", j, len(w.calls))
	}
	for _, a := range w.attempts {
		if want := noon.AddDate(0, 0, 11); !a.BillingDate.Truncate(24 * time.Hour).Equal(want.Truncate(24 * time.Hour)) {
			t.Errorf("the order of contract %d is on %v, want %v", a.Contract, a.BillingDate, want)
		}
	}
	for _, e := range w.entries {
		if e.Actor.Source != activity.MerchantPortalBulkAutomation || e.Actor.By != user.By || e.Actor.ClientIP != user.ClientIP {
			t.Errorf("entry by %+v", e.Actor)
		}
	}
	want := []string{
		"MERCHANT_PORTAL_BULK_AUTOMATION STARTED_BULK_AUTOMATION_PROCESSING INFO by ana@shop.example",
		"MERCHANT_PORTAL_BULK_AUTOMATION INFORMATIONAL_EVENT SUCCESS by ana@shop.example",
	}
	if got := w.log(); !slices.Equal(got, want) {
		t.Errorf("entries %q, want %q", got, want)
	}
}

func TestWorkerThatDiesBetweenChangeAndNoteLeavesNothingToRepeat(t *testing.T) {
	t.Parallel()
	for kind, a := range map[string]Action{"move": {Kind: MoveNext, Days: 1}, "skip": {Kind: SkipNext}, "pause": {Kind: Pause}, "quantity": {Kind: SetQuantity, Variant: 7, Quantity: 5}} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := begin(t, 30)
			j := w.start(all(), a)
			died := errors.New("died")
			func() {
				defer func() {
					if p := recover(); p != died { //nolint:errorlint // the very one that was thrown
						panic(p)
					}
				}()
				w.after = func(id contract.ID) error {
					if id == 7 {
						panic(died)
					}
					return nil
				}
				_ = w.service.Work(context.Background(), store)
			}()
			w.after = nil
			if w.work(j.ID).Done() != 0 || len(w.calls) != 7 {
				t.Fatalf("before the lease ends: %+v after %d calls", w.jobs[j.ID], len(w.calls))
			}
			w.at.Set(noon.Add(lease))
			if got := w.work(j.ID); got.Status != Finished || got.Succeeded != 30 || len(w.calls) != 30 {
				t.Errorf("job %+v after %d calls", got, len(w.calls))
			}
		})
	}
}

func TestLostAnswerOfPlatformCountsAsDoneWhenChangeShows(t *testing.T) {
	t.Parallel()
	w := begin(t, 1)
	j := w.start(all(), Action{Kind: Pause})
	refusal := fault.New(fault.Unavailable, "the platform does not answer")
	w.refuse = func(contract.ID) error { return refusal }
	if got := w.work(j.ID); got.Status != Running || !got.DueAt.Equal(noon.Add(firstWait)) {
		t.Errorf("after a failure that may pass: %+v", got)
	}
	w.refuse = func(contract.ID) error {
		return fault.New(fault.FailedPrecondition, "is PAUSED already").Code("sameStatus")
	}
	w.at.Set(noon.Add(firstWait))
	if got := w.work(j.ID); got.Status != Finished || got.Succeeded != 1 {
		t.Errorf("after the second try: %+v", got)
	}
}

func TestFailuresAreRetriedInJobOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := begin(t, 10)
	w.refuse = func(id contract.ID) error {
		if id%3 == 0 {
			return fault.New(fault.FailedPrecondition, "the platform refuses the change of contract %d", id).Code("refusedByPlatform")
		}
		return nil
	}
	j := w.work(w.start(all(), Action{Kind: Pause}).ID)
	if j.Status != Finished || j.Succeeded != 7 || j.Failed != 3 || !j.CanRetry() {
		t.Fatalf("job %+v", j)
	}
	failed, err := w.service.Failures(t.Context(), store, j.ID, 0, 10)
	if err != nil || len(failed) != 3 || failed[0].Contract != 3 || failed[0].Reason != "the platform refuses the change of contract 3" || failed[0].Code != "refusedByPlatform" {
		t.Errorf("failures %+v, %v", failed, err)
	}
	if got := w.log(); !strings.Contains(got[len(got)-1], "PARTIAL_FAILURE") {
		t.Errorf("entries %q", got)
	}
	w.refuse = nil
	again, err := w.service.Retry(t.Context(), store, j.ID, user)
	if err != nil {
		t.Fatal(err)
	}
	if twice, err := w.service.Retry(t.Context(), store, j.ID, user); err != nil || twice.ID != again.ID {
		t.Errorf("a second retry started job %d, %v", twice.ID, err)
	}
	if got := w.work(again.ID); got.Total != 3 || got.Succeeded != 3 || got.RetryOf != j.ID || len(w.calls) != 10 {
		t.Errorf("retry %+v after %d calls", got, len(w.calls))
	}
	_, err = w.service.Retry(t.Context(), store, again.ID, user)
	if code(err) != "nothingToRetry" {
		t.Errorf("a retry of nothing: %v", err)
	}
}

func TestFailureThatMayPassIsTriedFiveTimes(t *testing.T) {
	t.Parallel()
	w := begin(t, 1)
	tries := 0
	w.refuse = func(contract.ID) error {
		tries++
		return fault.New(fault.Conflict, "another caller changes it").Code("changedMeanwhile")
	}
	id := w.start(all(), Action{Kind: Pause}).ID
	for range 20 {
		w.work(id)
		w.at.Set(w.at.Now().Add(10 * time.Minute))
	}
	if j := w.jobs[id]; j.Status != Finished || j.Failed != 1 || tries != MaxTries {
		t.Errorf("job %+v after %d tries", j, tries)
	}
}

func TestStoppedJobBeginsNoOtherContract(t *testing.T) {
	t.Parallel()
	w := begin(t, 60)
	j := w.start(all(), Action{Kind: SkipNext})
	w.after = func(id contract.ID) error {
		if id == 3 {
			if _, err := w.service.Stop(t.Context(), store, j.ID); err != nil {
				t.Error(err)
			}
		}
		return nil
	}
	got := w.work(j.ID)
	if got.Status != Stopped || got.Succeeded != batch || got.Left() != 60-batch || len(w.calls) != batch {
		t.Errorf("job %+v after %d calls", got, len(w.calls))
	}
	if list := w.log(); !strings.Contains(list[len(list)-1], "PARTIAL_FAILURE") {
		t.Errorf("entries %q", list)
	}
	if _, err := w.service.Stop(t.Context(), store, j.ID); err != nil {
		t.Errorf("a second stop: %v", err)
	}
}

func TestContractsThatChangedSincePreviewFailWithTheRulesReason(t *testing.T) {
	t.Parallel()
	w := begin(t, 3)
	j := w.start(Selection{IDs: []contract.ID{3, 1, 2, 3, 99}}, Action{Kind: Pause})
	c := w.contracts[2]
	c.Status = contract.Paused
	w.contracts[2] = c
	got := w.work(j.ID)
	failed, _ := w.service.Failures(t.Context(), store, j.ID, 0, 10)
	if got.Total != 4 || got.Succeeded != 2 || got.Failed != 2 || len(failed) != 2 || failed[0].Code != "sameStatus" || failed[1].Code != "contractNotFound" {
		t.Errorf("job %+v, failures %+v", got, failed)
	}
}

func TestSelectionIsFrozenWhenJobIsStarted(t *testing.T) {
	t.Parallel()
	w := begin(t, 3)
	j := w.start(all(), Action{Kind: SkipNext})
	c := w.contracts[1]
	c.ID, c.CreatedAt = 50, noon.Add(time.Second)
	w.contracts[50] = c
	w.at.Set(noon.Add(time.Minute))
	if got := w.work(j.ID); got.Total != 3 || got.Succeeded != 3 || !got.Selection.Empty() {
		t.Errorf("job %+v", got)
	}
}

func TestJobsOfShopTakeTurns(t *testing.T) {
	t.Parallel()
	w := begin(t, 60)
	first, second := w.start(all(), Action{Kind: SetQuantity, Variant: 7, Quantity: 3}), w.start(all(), Action{Kind: MoveNext, Days: 1})
	w.after = func(contract.ID) error {
		w.at.Set(w.at.Now().Add(time.Second))
		return nil
	}
	for range 2 { // turns of 30 s
		w.work(first.ID)
	}
	if a, b := w.jobs[first.ID], w.jobs[second.ID]; a.Done() == 0 || b.Done() == 0 || a.Status == Finished || b.Status == Finished || w.asked != 4 {
		t.Errorf("%+v and %+v, asked %d times", a, b, w.asked)
	}
}

func TestStartRefusesWhatWasNotPreviewed(t *testing.T) {
	t.Parallel()
	w := begin(t, 3)
	a := Action{Kind: Cancel}
	p, err := w.service.Preview(t.Context(), store, all(), a, user)
	if err != nil || p.Total != 3 || p.Possible != 3 {
		t.Fatalf("%+v, %v", p, err)
	}
	good := Request{Action: a, Selection: all(), Previewed: p.Fingerprint, Typed: 3, Key: "k", By: user}
	for name, row := range map[string]struct {
		alter func(*Request)
		code  string
	}{
		"another action":         {func(r *Request) { r.Action.Now = true }, "previewOutdated"},
		"another selection":      {func(r *Request) { r.Selection = Selection{IDs: []contract.ID{1, 2, 3}} }, "previewOutdated"},
		"another count typed":    {func(r *Request) { r.Typed = 2 }, "countMismatch"},
		"nothing selected":       {func(r *Request) { r.Selection = Selection{} }, "parameterInvalid"},
		"two selections":         {func(r *Request) { r.Selection.IDs = []contract.ID{1} }, "parameterInvalid"},
		"no key":                 {func(r *Request) { r.Key = "" }, "parameterInvalid"},
		"more ids than allowed":  {func(r *Request) { r.Selection = Selection{IDs: make([]contract.ID, MaxIDs+1)} }, "tooManySelected"},
		"an action that is none": {func(r *Request) { r.Action.Kind = "DELETE" }, "actionInvalid"},
	} {
		bad := good
		bad.Selection = all()
		row.alter(&bad)
		if _, err := w.service.Start(t.Context(), store, bad); code(err) != row.code {
			t.Errorf("%s: %v, want %s", name, err, row.code)
		}
	}
	c := w.contracts[1]
	c.ID = 4
	w.contracts[4] = c
	if _, err := w.service.Start(t.Context(), store, good); code(err) != "previewOutdated" {
		t.Errorf("with another contract: %v", err)
	}
	delete(w.contracts, 4)
	first, err := w.service.Start(t.Context(), store, good)
	if err != nil {
		t.Fatal(err)
	}
	w.contracts[4] = c
	if again, err := w.service.Start(t.Context(), store, good); err != nil || again.ID != first.ID || len(w.jobs) != 1 {
		t.Errorf("the same request again: job %d, %v", again.ID, err)
	}
}

func TestShopHasAtMostThreeOpenJobs(t *testing.T) {
	t.Parallel()
	w := begin(t, 1)
	for range MaxOpen {
		w.start(all(), Action{Kind: SkipNext})
	}
	p, _ := w.service.Preview(t.Context(), store, all(), Action{Kind: SkipNext}, user)
	if _, err := w.service.Start(t.Context(), store, Request{Action: p.Action, Selection: all(), Previewed: p.Fingerprint, Key: "one more", By: user}); code(err) != "tooManyJobs" {
		t.Errorf("a job too many: %v", err)
	}
}

func TestPreviewCountsReasonsAndChangesNothing(t *testing.T) {
	t.Parallel()
	w := begin(t, 30)
	for id := contract.ID(1); id <= 5; id++ {
		c := w.contracts[id]
		c.Status = contract.Paused
		if id == 5 {
			c.Status = contract.Cancelled
		}
		w.contracts[id] = c
	}
	p, err := w.service.Preview(t.Context(), store, all(), Action{Kind: Pause}, user)
	if err != nil || p.Total != 30 || p.Checked != 30 || p.Possible != 25 || len(p.Effects) != samples {
		t.Fatalf("%+v, %v", p, err)
	}
	if len(p.Reasons) != 2 || p.Reasons[0].Code != "sameStatus" || p.Reasons[0].Count != 4 || p.Reasons[1].Code != "contractStatus" || p.Reasons[1].Count != 1 || p.Reasons[1].Example != 5 {
		t.Errorf("reasons %+v", p.Reasons)
	}
	if len(w.calls)+len(w.entries)+len(w.jobs) > 0 {
		t.Errorf("the preview left %v, %v, %v", w.calls, w.entries, w.jobs)
	}
}

func TestEffectsOfActions(t *testing.T) {
	t.Parallel()
	usd := func(minor int64) string { return fmt.Sprintf("%d USD", minor) }
	ten := noon.AddDate(0, 0, 10).Format(time.DateOnly)
	for name, row := range map[string]struct {
		a    Action
		code string
		want string // status, date and amount afterwards
	}{
		"a pause leaves no order":              {Action{Kind: Pause}, "", "PAUSED 0001-01-01 0 "},
		"a cancellation leaves no order":       {Action{Kind: Cancel}, "", "CANCELLED 0001-01-01 0 "},
		"an active contract is not resumed":    {Action{Kind: Resume}, "sameStatus", ""},
		"a skip leaves no order of one":        {Action{Kind: SkipNext}, "", "ACTIVE 0001-01-01 0 "},
		"a move by days":                       {Action{Kind: MoveNext, Days: 2}, "", "ACTIVE 2026-03-22 " + usd(2500)},
		"a move to a day":                      {Action{Kind: MoveNext, Date: noon.AddDate(0, 0, 1)}, "", "ACTIVE 2026-03-11 " + usd(2500)},
		"a move into the past":                 {Action{Kind: MoveNext, Days: -30}, "billingDatePast", ""},
		"a quantity changes the amount":        {Action{Kind: SetQuantity, Variant: 7, Quantity: 3}, "", "ACTIVE " + ten + " " + usd(3750)},
		"the quantity that it has":             {Action{Kind: SetQuantity, Variant: 7, Quantity: 2}, "unchanged", ""},
		"a variant that no line has":           {Action{Kind: SetQuantity, Variant: 8, Quantity: 3}, "lineNotFound", ""},
		"a price changes the amount":           {Action{Kind: SetPrice, Variant: 7, Price: price(1000)}, "", "ACTIVE " + ten + " " + usd(2000)},
		"a higher price that is announced":     {Action{Kind: SetPrice, Variant: 7, Price: price(2000), Announced: true}, "", "ACTIVE " + ten + " " + usd(2500) + " from 2026-04-20"},
		"a lower price is not announced":       {Action{Kind: SetPrice, Variant: 7, Price: price(1000), Announced: true}, "", "ACTIVE " + ten + " " + usd(2000)},
		"a swap is priced when it is made":     {Action{Kind: SwapVariant, Variant: 7, NewVariant: 9}, "", "ACTIVE " + ten + " 0 "},
		"a code that the contract has not":     {Action{Kind: RemoveCode, Code: "TEN"}, "discountNotFound", ""},
		"a maximum below the minimum":          {Action{Kind: SetCycles, Min: new(3), Max: new(2)}, "cycleLimits", ""},
		"limits":                               {Action{Kind: SetCycles, Min: new(3)}, "", "ACTIVE " + ten + " " + usd(2500)},
		"a one-time product that is not there": {Action{Kind: RemoveOneOff, Variant: 7}, "oneOffNotFound", ""},
		"an e-mail":                            {Action{Kind: SendNews, News: notify.News{Subject: "New", Text: "tea"}}, "", "ACTIVE " + ten + " " + usd(2500)},
		"a link":                               {Action{Kind: SendLink}, "", "ACTIVE " + ten + " " + usd(2500)},
	} {
		w := begin(t, 1)
		known, err := readFacts(t.Context(), w, []contract.ID{1}, true)
		if err != nil {
			t.Fatal(err)
		}
		e, _, err := assess(known[1], row.a, user, noon)
		got := fmt.Sprintf("%s %s %d %s", e.Is.Status, e.Is.Date.Format(time.DateOnly), e.Is.Amount.Minor, e.Is.Amount.Currency)
		if !e.From.IsZero() {
			got += " from " + e.From.Format(time.DateOnly)
		}
		if code(err) != row.code || row.code == "" && got != row.want {
			t.Errorf("%s: %q, %v; want %q, %s", name, got, err, row.want, row.code)
		}
		if row.code == "" && (e.Was.Status != contract.Active || e.Was.Amount.Minor != 2500) {
			t.Errorf("%s: before it is %+v", name, e.Was)
		}
		if w.contracts[1].Lines[0].Quantity != 2 || w.attempts[101].Status != billing.Queued {
			t.Errorf("%s: the assessment changed the contract", name)
		}
	}
}

func TestActionsAreChecked(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		a    Action
		code string
	}{
		"no days":                  {Action{Kind: MoveNext}, "parameterInvalid"},
		"days and a date":          {Action{Kind: MoveNext, Days: 1, Date: noon}, "parameterInvalid"},
		"too many days":            {Action{Kind: MoveNext, Days: 400}, "parameterInvalid"},
		"no variant":               {Action{Kind: SetQuantity, Quantity: 1}, "parameterInvalid"},
		"no quantity":              {Action{Kind: SetQuantity, Variant: 7}, "quantity"},
		"an e-mail without text":   {Action{Kind: SendNews, News: notify.News{Subject: "New"}}, "newsInvalid"},
		"a subject of two lines":   {Action{Kind: SendNews, News: notify.News{Subject: "New\nBcc: x", Text: "tea"}}, "newsInvalid"},
		"too many of a product":    {Action{Kind: AddOneOff, Variant: 7, Quantity: 1000}, "parameterInvalid"},
		"the same variant":         {Action{Kind: SwapVariant, Variant: 7, NewVariant: 7}, "parameterInvalid"},
		"a negative price":         {Action{Kind: SetPrice, Variant: 7, Price: price(-1)}, "price"},
		"no code":                  {Action{Kind: ApplyCode, Code: " "}, "parameterInvalid"},
		"a code that is too long":  {Action{Kind: ApplyCode, Code: strings.Repeat("x", 256)}, "parameterInvalid"},
		"no limit":                 {Action{Kind: SetCycles}, "parameterInvalid"},
		"a limit that is too high": {Action{Kind: SetCycles, Max: new(10000)}, "parameterInvalid"},
		"a pause until the past":   {Action{Kind: Pause, Until: noon.Add(-time.Hour)}, "datePast"},
		"a skip":                   {Action{Kind: SkipNext}, ""},
	} {
		if err := row.a.Check(noon); code(err) != row.code {
			t.Errorf("%s: %v, want %s", name, err, row.code)
		}
	}
}

func TestPreviewPricesProductsThatAnActionBrings(t *testing.T) {
	t.Parallel()
	w := begin(t, 25)
	c := w.contracts[2]
	c.Currency = "CAD"
	w.contracts[2] = c
	for name, row := range map[string]struct {
		a    Action
		want int64 // minor units of the first order
	}{
		"a swap":             {Action{Kind: SwapVariant, Variant: 7, NewVariant: 9}, 9000},
		"a one-time product": {Action{Kind: AddOneOff, Variant: 9, Quantity: 3}, 2500 + 13500},
	} {
		p, err := w.service.Preview(t.Context(), store, all(), row.a, user)
		if err != nil || p.Possible != 24 || len(p.Reasons) != 1 || p.Reasons[0].Code != "currencyMismatch" || p.Reasons[0].Example != 2 {
			t.Errorf("%s: %+v, %v", name, p, err)
			continue
		}
		if got := p.Effects[0]; got.Was.Amount != price(2500) || got.Is.Amount != price(row.want) {
			t.Errorf("%s: %+v, want %d", name, got, row.want)
		}
	}
	if _, err := w.service.Preview(t.Context(), store, all(), Action{Kind: SwapVariant, Variant: 7, NewVariant: 11}, user); code(err) != "variantNotFound" || !fault.Is(err, fault.Invalid) {
		t.Errorf("a variant that the store does not have: %v", err)
	}
}
