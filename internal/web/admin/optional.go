package admin

// Fields of a JSON body that may be left out are pointers; nil is absent.

// text returns a text, which is empty when it is absent.
func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// yes returns a truth value, which is false when it is absent.
func yes(b *bool) bool { return yesOr(b, false) }

// yesOr returns a truth value, or what it is when it is absent.
func yesOr(b *bool, absent bool) bool {
	if b == nil {
		return absent
	}
	return *b
}

// whole returns a number, which is 0 when it is absent.
func whole(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}

// int32Of returns a number that is present, also when it is 0.
func int32Of(n int) *int32 { return new(int32(n)) }

// some32 returns a number that is absent when it is 0.
func some32(n int) *int32 {
	if n == 0 {
		return nil
	}
	return int32Of(n)
}
