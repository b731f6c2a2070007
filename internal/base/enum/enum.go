// Package enum parses values that have names.
package enum

import (
	"fmt"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// Parse returns the value whose name, as fmt prints it, is s in any letter case. Any
// other s is Invalid; kind is what the message calls the value, with its article.
func Parse[T any](kind, s string, values ...T) (T, error) {
	names := make([]string, len(values))
	for i, v := range values {
		if names[i] = fmt.Sprint(v); strings.EqualFold(s, names[i]) {
			return v, nil
		}
	}
	last := len(names) - 1
	var none T
	return none, fault.New(fault.Invalid, "%q is not %s: use %s or %s", s, kind, strings.Join(names[:last], ", "), names[last])
}
