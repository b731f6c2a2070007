package sms

import (
	"strings"
	"testing"
)

func TestSegments(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		text string
		want int
	}{
		"an empty text is none":                                   {"", 0},
		"one character is one":                                    {"a", 1},
		"160 characters of the alphabet fill one":                 {strings.Repeat("a", 160), 1},
		"161 need two, of 153 each":                               {strings.Repeat("a", 161), 2},
		"306 fill two":                                            {strings.Repeat("a", 306), 2},
		"307 need three":                                          {strings.Repeat("a", 307), 3},
		"459 fill three":                                          {strings.Repeat("a", 459), 3},
		"460 need four":                                           {strings.Repeat("a", 460), 4},
		"the accents of the alphabet count once":                  {strings.Repeat("à", 160), 1},
		"a euro sign counts twice":                                {strings.Repeat("a", 158) + "€", 1},
		"so that one character more is too many":                  {strings.Repeat("a", 159) + "€", 2},
		"80 of the extension fill one":                            {strings.Repeat("[", 80), 1},
		"81 do not":                                               {strings.Repeat("[", 81), 2},
		"an escape is not parted from its character":              {strings.Repeat("a", 152) + "€" + strings.Repeat("a", 152), 3},
		"which fits where it is not at the end of a segment":      {strings.Repeat("a", 151) + "€" + strings.Repeat("a", 153), 2},
		"one character outside the alphabet makes the text UCS-2": {strings.Repeat("a", 69) + "á", 1},
		"and 70 of those fill one":                                {strings.Repeat("注", 70), 1},
		"71 need two, of 67 each":                                 {strings.Repeat("注", 71), 2},
		"134 fill two":                                            {strings.Repeat("注", 134), 2},
		"135 need three":                                          {strings.Repeat("注", 135), 3},
		"201 fill three":                                          {strings.Repeat("注", 201), 3},
		"202 need four":                                           {strings.Repeat("注", 202), 4},
		"an emoji counts twice":                                   {strings.Repeat("🍵", 35), 1},
		"36 do not fit":                                           {strings.Repeat("🍵", 36), 2},
		"and is not parted":                                       {strings.Repeat("注", 66) + "🍵" + strings.Repeat("注", 66), 3},
		"a lower-case c with cedilla is not in the alphabet":      {strings.Repeat("ç", 71), 2},
		"its capital is":                                          {strings.Repeat("Ç", 160), 1},
		"a typographic apostrophe makes a short text long":        {strings.Repeat("a", 100) + "’", 2},
		"which is sent as a plain one":                            {Plain(strings.Repeat("a", 100) + "’"), 1},
		"a line break is in the alphabet":                         {strings.Repeat("\n", 160), 1},
		"what is not UTF-8 counts as one character each, and does no harm": {strings.Repeat("\xff", 70), 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := Segments(test.text); got != test.want {
				t.Errorf("%d segments, want %d", got, test.want)
			}
		})
	}
}

func TestPlain(t *testing.T) {
	t.Parallel()
	if got := Plain("„Tee’s“\u00a0–\u202f24,00\u00a0€ …\n\u2068da\u2069"); got != `"Tee's" - 24,00 € ... da` {
		t.Errorf("plain is %q", got)
	}
}

func TestFit(t *testing.T) {
	t.Parallel()
	const link = "https://subs.example.com/portal/tea/orders/4711"
	words := strings.TrimSpace(strings.Repeat("word ", 120)) // 599 characters
	for name, test := range map[string]struct {
		text, link, hint string
		segments         int
		start, end       string
	}{
		"a short text stays":                         {"Tea: order on 12 Dec.", link, "", 1, "Tea: order on 12 Dec.", " " + link},
		"a hint follows where there is room":         {"Tea: order on 12 Dec.", link, "Reply STOP to end.", 1, "Tea:", link + " Reply STOP to end."},
		"and is left out where it costs a segment":   {strings.Repeat("a", 160-1-len(link)), link, "STOP", 1, "aaa", "a " + link},
		"a long text is cut after a word":            {words, link, "", 3, "word word", "word... " + link},
		"in UCS-2 too":                               {strings.TrimSpace(strings.Repeat("注文 ", 120)), link, "", 3, "注文 注文", "注文... " + link},
		"one long word is left out":                  {strings.Repeat("w", 600), link, "", 1, link, link},
		"a link that is too long itself stays whole": {"word", "https://" + strings.Repeat("x", 600), "", 4, "https://", "xxx"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := Fit(test.text, test.link, test.hint)
			if n := Segments(got); n != test.segments || !strings.HasPrefix(got, test.start) || !strings.HasSuffix(got, test.end) || !strings.Contains(got, test.link) {
				t.Errorf("%d segments: %q", n, got)
			}
		})
	}
	// The cut loses no more than it must: with one word more there would be four segments.
	cut := Fit(words, link, "")
	if more := strings.Replace(cut, "word...", "word word...", 1); Segments(more) != Most+1 {
		t.Errorf("there was room for another word in %q", cut)
	}
}

func TestParsePhone(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"+4915123456789": "+4915123456789", " +1 (613) 555-0101 ": "+16135550101", "0049 151 23456789": "+4915123456789", "+1.613.555.0101": "+16135550101",
		"": "", "0151 23456789": "", "+0151234567": "", "+123456": "", "+1234567890123456": "", "+49151a345678": "", "+": "", "++4915123456789": "", "+49 151 2345678\n9": "",
		strings.Repeat(" ", 41) + "+4915123456789": "",
	} {
		if got, ok := ParsePhone(text); ok != (want != "") || ok && got != want {
			t.Errorf("%q is read as %q, %t; want %q", text, got, ok, want)
		}
	}
}
