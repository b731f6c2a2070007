package contractedit

import (
	"slices"
	"testing"

	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestMergeAttributesKeepsPositions(t *testing.T) {
	t.Parallel()
	is := []contract.Attribute{{Key: "a", Value: "1"}, {Key: "b", Value: "2"}}
	got := mergeAttributes(is, []contract.Attribute{{Key: "c", Value: "3"}, {Key: "a", Value: "9"}})
	want := []contract.Attribute{{Key: "a", Value: "9"}, {Key: "b", Value: "2"}, {Key: "c", Value: "3"}}
	if !slices.Equal(got, want) || is[0].Value != "1" {
		t.Errorf("merged: %v (was %v)", got, is)
	}
}
