package main

import (
	"regexp"
	"strings"
)

// phrase is what not to write, as a regular expression, and what to write in its place.
type phrase struct {
	name    string
	pattern *regexp.Regexp
	write   string
}

func say(phrasing, write string) phrase {
	return phrase{phrasing, regexp.MustCompile(`(?i)\b(?:` + strings.ReplaceAll(phrasing, " ", `\s+`) + `)\b`), write}
}

const actor = "the actor by name: caller, client, operator, merchant, subscriber, node, worker, receiver"

var phrases = []phrase{
	say(`told|tell(?:s|ing)? of`, "report, notify or publish"),
	say(`heard(?: of| from)?`, "received or recorded"),
	say(`somebody|nobody|someone else|whoever|who does|whom`, actor),
	say(`of which`, "that, or a sentence of its own"),
	say(`anew`, "again"),
	say(`besides`, "also"),
	say(`by itself|by themselves`, "automatically"),
	say(`(?:is|are|was|were) to be`, "will be or must be"),
	say(`named so|goes by the name`, "not found"),
	say(`there is nothing at`, "no such path"),
	say(`is packed`, "is compressed"),
	say(`is entered`, "is authenticated"),
}

// limited are the phrases that -count counts: at most one of each in 1,000 lines of
// comments.
var limited = []phrase{
	{"told, tell(s) of", say(`told|tells? of`, "").pattern, ""},
	{"somebody, nobody", say(`somebody|nobody`, "").pattern, ""},
	{"of which", say(`of which`, "").pattern, ""},
}
