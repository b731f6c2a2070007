package words_test

import (
	"regexp"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/web/dashboard"
	"github.com/perennialhq/perennial/internal/web/dashboard/words"
)

func TestEveryEventReadsAsWords(t *testing.T) {
	t.Parallel()
	code := regexp.MustCompile(`[A-Z]{2}_|_`)
	for _, event := range activity.EventTypes {
		for _, entity := range activity.EntityTypes {
			for _, status := range activity.Statuses {
				l := words.Of(activity.Entry{Event: event, EntityType: entity, Status: status, Actor: activity.System})
				if l.Text == "" || l.Icon == "" || l.Tone == "" || l.By == "" || code.MatchString(l.Text) {
					t.Fatalf("%s of %s with %s reads %+v", event, entity, status, l)
				}
			}
		}
	}
	for _, s := range activity.Sources {
		if words.Source(s) == "" {
			t.Errorf("%s has no words", s)
		}
	}
}

func TestEntrySaysWhoAndWhy(t *testing.T) {
	t.Parallel()
	got := words.Of(activity.Entry{
		Event: activity.ContractPaused, EntityType: activity.EntitySubscriptionContractDetails, Status: activity.Failure,
		Actor: activity.Actor{Source: activity.MerchantPortal, By: "ana@staff.example"}, Info: `{"reason":"the platform refused","cycle":3}`,
	})
	want := words.Line{
		Icon: "pause", Tone: dashboard.Bad, Text: "Failed: the contract was paused", By: "ana@staff.example, dashboard", Why: "the platform refused",
		Info: "{\n  \"cycle\": 3,\n  \"reason\": \"the platform refused\"\n}",
	}
	if got != want {
		t.Errorf("the entry reads %+v, want %+v", got, want)
	}
	if got := words.Of(activity.Entry{Event: activity.Updated, EntityType: activity.EntityShopInfo, Status: activity.Success, Actor: activity.Operator}); got.Text != "The store's settings were changed" {
		t.Errorf("a change of settings reads %q", got.Text)
	}
}
