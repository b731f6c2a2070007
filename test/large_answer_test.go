package test

import (
	"strings"
	"testing"
)

// The settings of a bundle may fill an answer of a hundred KiB and more: sent
// again, the request gets the same answer and makes nothing.
func TestRepeatedCreateWithLargeAnswerRunsOnce(t *testing.T) {
	t.Parallel()
	s := openStage(t)
	count := func() int {
		var boxes []struct{ ID int64 }
		s.send("GET", s.urls.Subscriptions+api+"/subscription-bundle-settings?size=100", s.key, nil, &boxes)
		return len(boxes)
	}
	before := count()
	box := map[string]any{"title": "Box", "shopCustomizationData": []any{map[string]any{"page": strings.Repeat("box", 30_000)}}}
	var first, again struct {
		ID                    int64
		ShopCustomizationData []struct{ Page string }
	}
	for _, out := range []any{&first, &again} {
		if got := s.sendWith("POST", s.urls.Subscriptions+api+"/subscription-bundle-settings", s.key, map[string]string{"Idempotency-Key": "large"}, box, out); got != 200 {
			t.Fatalf("answered %d", got)
		}
	}
	if first.ID == 0 || first.ID != again.ID || len(again.ShopCustomizationData) != 1 || len(again.ShopCustomizationData[0].Page) != 90_000 {
		t.Errorf("made bundle %d and then %d", first.ID, again.ID)
	}
	if made := count() - before; made != 1 {
		t.Errorf("%d bundles were made, want 1", made)
	}
}
