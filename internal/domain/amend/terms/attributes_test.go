package terms

import (
	"strings"
	"testing"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/contract"
)

func TestCheckAttributesLimits(t *testing.T) {
	t.Parallel()
	many := make([]contract.Attribute, MaxAttributes+1)
	for i := range many {
		many[i].Key = strings.Repeat("k", i+1)
	}
	for _, row := range []struct {
		name string
		list []contract.Attribute
		ok   bool
	}{
		{"as many as there may be", many[:MaxAttributes], true},
		{"one too many", many, false},
		{"the longest key and value", []contract.Attribute{{Key: strings.Repeat("é", MaxAttributeKey), Value: strings.Repeat("é", MaxAttributeValue)}}, true},
		{"a key that is too long", []contract.Attribute{{Key: strings.Repeat("k", MaxAttributeKey+1)}}, false},
		{"a value that is too long", []contract.Attribute{{Key: "k", Value: strings.Repeat("v", MaxAttributeValue+1)}}, false},
		{"an empty key", []contract.Attribute{{Value: "v"}}, false},
		{"a key twice", []contract.Attribute{{Key: "k"}, {Key: "k"}}, false},
	} {
		if err := CheckAttributes(row.list); (err == nil) != row.ok || err != nil && !fault.Is(err, fault.Invalid) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}
