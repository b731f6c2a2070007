// Package gid reads and writes the platform's graph identifiers, such as
// gid://shopify/SubscriptionContract/42.
package gid

import (
	"strconv"
	"strings"

	"github.com/perennialhq/perennial/internal/base/fault"
)

const prefix = "gid://shopify/"

// Max is the largest numeric id we accept: ids stay exact in a float64.
const Max = 1<<53 - 1

// Of returns the graph id of the object with the given type and numeric id.
func Of(objectType string, id int64) string {
	return prefix + objectType + "/" + strconv.FormatInt(id, 10)
}

// Parse returns the numeric id in s, which is a plain number or a graph id of
// the given type. Query parameters of a graph id are ignored.
func Parse(objectType, s string) (int64, error) {
	digits := s
	if rest, ok := strings.CutPrefix(s, prefix); ok {
		kind, tail, found := strings.Cut(rest, "/")
		if !found || kind != objectType {
			return 0, fault.New(fault.Invalid, "%q is not a %s id", s, objectType)
		}
		digits, _, _ = strings.Cut(tail, "?")
	}
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, fault.New(fault.Invalid, "%q is not a %s id: write a number or %s%s/<number>", s, objectType, prefix, objectType)
	}
	id, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || id < 1 || id > Max {
		return 0, fault.New(fault.Invalid, "%q is out of range for a %s id (1 to %d)", s, objectType, Max)
	}
	return id, nil
}

// Number returns the numeric id at the end of a graph id whose type the caller
// does not need to check, or 0.
func Number(graphID string) int64 {
	rest, ok := strings.CutPrefix(graphID, prefix)
	if !ok {
		return 0
	}
	_, tail, _ := strings.Cut(rest, "/")
	tail, _, _ = strings.Cut(tail, "?")
	id, err := strconv.ParseInt(tail, 10, 64)
	if err != nil {
		return 0
	}
	return id
}
