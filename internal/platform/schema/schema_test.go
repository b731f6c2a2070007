package schema_test

import (
	"testing"

	"github.com/perennialhq/perennial/internal/platform/schema"
)

func TestWholeSchemaIsEmbedded(t *testing.T) {
	t.Parallel()
	s, err := schema.Load()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"SubscriptionContract", "SubscriptionBillingAttemptInput", "DeliveryProfile", "OnlineStoreThemeFilesUpsertFileInput"} {
		if s.Types[name] == nil {
			t.Errorf("the schema has no type %s", name)
		}
	}
	if f := s.Mutation.Fields.ForName("subscriptionBillingAttemptCreate"); f == nil {
		t.Error("the schema cannot charge")
	}
	again, err := schema.Load()
	if err != nil || again != s {
		t.Errorf("a second Load parsed again: %v", err)
	}
}
