package admin

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func yes(b *bool) bool { return b != nil && *b }

// yesOr returns what a field says, or what it means when it is left out.
func yesOr(b *bool, otherwise bool) bool {
	if b == nil {
		return otherwise
	}
	return *b
}

func given(n int) *int32 {
	v := int32(n)
	return &v
}

func some32(n int) *int32 {
	if n == 0 {
		return nil
	}
	return given(n)
}

func whole(n *int32) int {
	if n == nil {
		return 0
	}
	return int(*n)
}
