package terms

import (
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
	"github.com/perennialhq/perennial/internal/domain/amend"
	"github.com/perennialhq/perennial/internal/domain/contract"
	"github.com/perennialhq/perennial/internal/platform"
)

// Limits of attributes.
const (
	MaxAttributes     = 100
	MaxAttributeKey   = 255  // characters
	MaxAttributeValue = 5000 // characters
)

// CheckAttributes refuses attributes that a contract or a line cannot have.
func CheckAttributes(list []contract.Attribute) error {
	bad := func(format string, args ...any) error {
		return fault.New(fault.Invalid, format, args...).Entity(amend.Entity).Code("attributes").Field("customAttributesList")
	}
	if len(list) > MaxAttributes {
		return bad("at most %d attributes can be given", MaxAttributes)
	}
	seen := make(map[string]bool, len(list))
	for _, a := range list {
		switch {
		case strings.TrimSpace(a.Key) == "" || utf8.RuneCountInString(a.Key) > MaxAttributeKey:
			return bad("an attribute's key has 1 to %d characters", MaxAttributeKey)
		case utf8.RuneCountInString(a.Value) > MaxAttributeValue:
			return bad("the value of attribute %q is longer than %d characters", a.Key, MaxAttributeValue)
		case seen[a.Key]:
			return bad("attribute %q is given twice", a.Key)
		}
		seen[a.Key] = true
	}
	return nil
}

// PlatformAttributes returns attributes as the platform's type.
func PlatformAttributes(list []contract.Attribute) []platform.Attribute {
	made := make([]platform.Attribute, len(list))
	for i, a := range list {
		made[i] = platform.Attribute(a)
	}
	return made
}
