package words_test

import (
	"regexp"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/activity"
	"github.com/perennialhq/perennial/internal/domain/moving"
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
	for info, want := range map[string][2]string{
		activity.Details(moving.Note{Way: moving.Leaving, Service: "https://a.example", Reason: "to https://a.example"}):          {"The contract leaves for another service", "to https://a.example"},
		activity.Details(moving.Note{Way: moving.Kept, Reason: "it is charged again"}):                                            {"The contract stays here: it could not be moved", "it is charged again"},
		activity.Details(moving.Note{Way: moving.Arrived, There: "7", Reason: "from https://a.example, where it was contract 7"}): {"The contract has come from another service", "from https://a.example, where it was contract 7"},
		`{"move":1001,"direction":"IN","service":"https://a.example","reason":"the move was paused"}`:                             {"A move of contracts", "the move was paused"},
		`{"moved":"TO_THE_MOON"}`: {"A notice", ""},
		`["no object"]`:           {"A notice", ""},
	} {
		got := words.Of(activity.Entry{Event: activity.InformationalEvent, EntityType: activity.EntitySubscriptionContractDetails, Status: activity.Success, Actor: activity.System, Info: info})
		if got.Text != want[0] || got.Why != want[1] {
			t.Errorf("%s reads %q, %q", info, got.Text, got.Why)
		}
	}
	left := words.Of(activity.Entry{Event: activity.ContractCancelled, Status: activity.Success, Actor: activity.System, Info: `{"to":"CANCELLED","cancellationNote":"moved to https://a.example"}`})
	if left.Text != "The contract was cancelled" || left.Why != "moved to https://a.example" {
		t.Errorf("a contract that has left reads %+v", left)
	}
	if got := words.Of(activity.Entry{Event: activity.ContractCreated, Status: activity.Success, Actor: activity.System, Info: `{"to":"ACTIVE","movedContractId":"9001"}`}); got.Text != "The contract was created by a move, not charged yet" {
		t.Errorf("a contract that comes reads %q", got.Text)
	}
	if got := words.Of(activity.Entry{Event: activity.Updated, EntityType: activity.EntityShopInfo, Status: activity.Success, Actor: activity.Operator}); got.Text != "The store's settings were changed" {
		t.Errorf("a change of settings reads %q", got.Text)
	}
}
