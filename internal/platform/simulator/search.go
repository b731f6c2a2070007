package simulator

import (
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/perennialhq/perennial/internal/base/gid"
)

// term is one condition of a search query, such as updated_at:>='2026-01-01'.
type term struct {
	key, op, value string // op: "", "<", "<=", ">" or ">="
	or             []term // others with the same key, any one of them is enough
}

// parseSearch reads the conjunctions of the platform's search syntax. Each part is a value of a key, or
// several values of one key with OR between them. What goes beyond them is not simulated, and says so.
func (x *exec) parseSearch(query string) []term {
	var list []term
	alternative := false
	for rest := strings.TrimSpace(query); rest != ""; rest = strings.TrimSpace(rest) {
		key, tail, ok := strings.Cut(rest, ":")
		if word, after, spaced := strings.Cut(rest, " "); spaced && (word == "AND" || word == "OR") {
			rest, alternative = after, word == "OR"
			continue
		}
		if !ok || alternative && (len(list) == 0 || list[len(list)-1].key != key) || strings.ContainsAny(key, " ()-*\"'") {
			x.fail(codeNotSimulated, "The simulator does not simulate the search %q.", query)
			return nil
		}
		t := term{key: key}
		for _, op := range []string{">=", "<=", ">", "<"} {
			if after, found := strings.CutPrefix(tail, op); found {
				t.op, tail = op, after
				break
			}
		}
		if tail != "" && (tail[0] == '\'' || tail[0] == '"') {
			end := strings.IndexByte(tail[1:], tail[0])
			if end < 0 {
				x.fail(codeNotSimulated, "The simulator does not simulate the search %q.", query)
				return nil
			}
			t.value, rest = tail[1:1+end], tail[2+end:]
		} else {
			t.value, rest, _ = strings.Cut(tail, " ")
		}
		if alternative {
			last := &list[len(list)-1]
			last.or = append(last.or, t)
		} else {
			list = append(list, t)
		}
		alternative = false
	}
	return list
}

func compareBy(op string, c int) bool {
	switch op {
	case ">":
		return c > 0
	case ">=":
		return c >= 0
	case "<":
		return c < 0
	case "<=":
		return c <= 0
	}
	return c == 0
}

// matchTime compares an instant with a term's.
func (t term) matchTime(at time.Time) bool {
	want, err := parseTime(t.value)
	if err != nil {
		return false
	}
	return compareBy(t.op, at.Truncate(time.Second).Compare(want))
}

func (t term) matchID(id int64) bool {
	want, err := gid.Parse(typeIn(t.value), t.value)
	if err != nil {
		return false
	}
	switch {
	case id < want:
		return compareBy(t.op, -1)
	case id > want:
		return compareBy(t.op, 1)
	}
	return compareBy(t.op, 0)
}

// typeIn returns the type in a graph id, so that any is taken.
func typeIn(s string) string {
	rest, _ := strings.CutPrefix(s, "gid://shopify/")
	kind, _, _ := strings.Cut(rest, "/")
	return kind
}

func (t term) matchText(s string) bool {
	if prefix, ok := strings.CutSuffix(t.value, "*"); ok {
		return strings.HasPrefix(strings.ToLower(s), strings.ToLower(prefix))
	}
	return strings.EqualFold(s, t.value)
}

// matchWords reports whether a text matches, or one of its words does.
func (t term) matchWords(s string) bool {
	return t.matchText(s) || slices.ContainsFunc(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }), t.matchText)
}

// search keeps the objects that satisfy every term. The function says whether
// an object satisfies a term; known is false for terms that are not simulated.
func search[T any](x *exec, list []T, query string, match func(v T, t term) (ok, known bool)) []T {
	return satisfying(x, list, x.parseSearch(query), match)
}

// satisfying does the same with the terms of a search.
func satisfying[T any](x *exec, list []T, terms []term, match func(v T, t term) (ok, known bool)) []T {
	if len(terms) == 0 {
		return list
	}
	var kept []T
next:
	for _, v := range list {
		for _, t := range terms {
			ok, known := match(v, t)
			for n := 0; !ok && n < len(t.or); n++ {
				ok, _ = match(v, t.or[n])
			}
			if !known {
				x.fail(codeNotSimulated, "The simulator does not simulate searches by %q.", t.key)
				return nil
			}
			if !ok {
				continue next
			}
		}
		kept = append(kept, v)
	}
	return kept
}
