package admin

import (
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/perennialhq/perennial/internal/base/fault"
)

// wholeNumbers are the fields of the type number that have no decimals.
var wholeNumbers = []string{"minProducts", "maxProducts", "min", "max"}

// checkTags refuses a value that is not as the tags of its field say. The path
// leads to the value.
func checkTags(path string, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			f := v.Type().Field(i)
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			below := path
			if name != "" {
				below = strings.TrimPrefix(path+"."+name, ".")
			}
			if err := checkTag(below, name, f.Tag, v.Field(i)); err != nil {
				return err
			}
			if err := checkTags(below, v.Field(i)); err != nil {
				return err
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			if err := checkTags(fmt.Sprintf("%s[%d]", path, i), v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Map:
		for _, key := range slices.Sorted(maps.Keys(keysOf(v))) {
			if err := checkTags(path+"."+key, v.MapIndex(reflect.ValueOf(key))); err != nil {
				return err
			}
		}
	}
	return nil
}

func keysOf(v reflect.Value) map[string]bool {
	keys := map[string]bool{}
	for _, k := range v.MapKeys() {
		keys[k.String()] = true
	}
	return keys
}

func checkTag(path, name string, tag reflect.StructTag, v reflect.Value) error {
	wrong := func(format string, args ...any) error {
		return fault.New(fault.Invalid, "field '%s' "+format, append([]any{path}, args...)...).Entity("subscriptionBundleSettings").Code("bodyField").Field(path)
	}
	limit := func(tagName string) (float64, bool) {
		n, err := strconv.ParseFloat(tag.Get(tagName), 64)
		return n, err == nil
	}
	var n float64
	switch v.Kind() {
	case reflect.String:
		length := float64(utf8.RuneCountInString(v.String()))
		if least, ok := limit("minLength"); ok && float64(len(strings.TrimSpace(v.String()))) < least {
			return wrong("may not be empty")
		}
		if most, ok := limit("maxLength"); ok && length > most {
			return wrong("has %s characters: at most %s are allowed", plain(length), plain(most))
		}
		return nil
	case reflect.Int32:
		n = float64(v.Int())
	case reflect.Float64:
		n = v.Float()
		if slices.Contains(wholeNumbers, name) && n != math.Trunc(n) {
			return wrong("is %s and must be a whole number", plain(n))
		}
	default:
		return nil
	}
	least, hasLeast := limit("minimum")
	most, hasMost := limit("maximum")
	if hasLeast && n < least || hasMost && n > most {
		return wrong("is %s and must be between %s and %s", plain(n), plain(least), plain(most))
	}
	return nil
}

// plain writes a number out, however large it is.
func plain(n float64) string { return strconv.FormatFloat(n, 'f', -1, 64) }
