package table

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/perennialhq/perennial/internal/domain/cadence"
)

// often is how often something recurs, as a column says it.
type often struct {
	interval cadence.Interval
	count    int
	counted  bool // the count is written as a number
}

// unitWords are the words for an interval.
var unitWords = wordsOf(map[cadence.Interval]string{
	cadence.Day: "day days d daily tag tage tagen täglich jour jours quotidien día días dia dias diario diariamente " +
		"giorno giorni dag dagen dagelijks",
	cadence.Week: "week weeks w wk wks weekly woche wochen wöchentlich semaine semaines hebdomadaire " +
		"semana semanas semanal semanalmente settimana settimane settimanale weken wekelijks",
	cadence.Month: "month months m mo mos monthly monat monate monaten monatlich mois mensuel " +
		"mes meses mensual mês mensal mensalmente mese mesi mensile maand maanden maandelijks",
	cadence.Year: "year years y yr yrs yearly annual annually jahr jahre jahren jährlich an ans année années annuel " +
		"annuelle año años anualmente ano anos anno anni annuale jaar jaren jaarlijks",
})

func wordsOf(table map[cadence.Interval]string) map[string]cadence.Interval {
	words := make(map[string]cadence.Interval)
	for interval, list := range table {
		for word := range strings.FieldsSeq(list) {
			words[word] = interval
		}
	}
	return words
}

// countWords are the words for a number of intervals.
var countWords = map[string]often{
	"biweekly": {cadence.Week, 2, false}, "fortnightly": {cadence.Week, 2, false}, "fortnight": {cadence.Week, 2, false},
	"bimonthly": {cadence.Month, 2, false}, "quarterly": {cadence.Month, 3, false}, "quarter": {cadence.Month, 3, false},
	"vierteljährlich": {cadence.Month, 3, false}, "trimestriel": {cadence.Month, 3, false},
	"trimestral": {cadence.Month, 3, false}, "trimestrale": {cadence.Month, 3, false},
	"halbjährlich": {cadence.Month, 6, false}, "semiannual": {cadence.Month, 6, false},
	"semiannually": {cadence.Month, 6, false}, "biannually": {cadence.Month, 6, false},
}

// numberWords are numbers, written as words.
var numberWords = map[string]int{
	"other": 2, "bi": 2, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "eight": 8, "ten": 10,
	"twelve": 12,
}

// fillers are words that say nothing more.
var fillers = wordSet("every each per once a p in alle jede jeden jedes jeder tous toutes les le la chaque par " +
	"cada todos todas los las ogni elke iedere")

func wordSet(list string) map[string]bool {
	set := make(map[string]bool)
	for word := range strings.FieldsSeq(list) {
		set[word] = true
	}
	return set
}

// parseOften reads texts such as MONTH, "2 weeks", "every 30 days", "monthly" and P1M.
func parseOften(text string) (often, bool) {
	var o often
	for _, word := range intervalWords(text) {
		n, isNumber := numberWords[word]
		if digits(word) {
			n, isNumber = atoi(word), true
		}
		whole, isWhole := countWords[word]
		interval, isUnit := unitWords[word]
		switch {
		case isNumber && o.count == 0 && o.interval == 0:
			o.count, o.counted = n, true
		case isWhole && o.count == 0 && o.interval == 0:
			o = whole
		case isUnit && o.interval == 0:
			o.interval = interval
		case !fillers[word]:
			return often{}, false
		}
	}
	if !o.counted {
		o.count = max(o.count, 1)
	}
	return o, o.interval != 0
}

// intervalWords splits a text into words and numbers in lower case.
func intervalWords(text string) []string {
	var words []string
	var b strings.Builder
	end := func() {
		if b.Len() > 0 {
			words = append(words, b.String())
			b.Reset()
		}
	}
	number := false
	for _, r := range strings.ToLower(text) {
		digit := r >= '0' && r <= '9'
		if !digit && !unicode.IsLetter(r) || digit != number {
			end()
		}
		if number = digit; digit || unicode.IsLetter(r) {
			b.WriteRune(r)
		}
	}
	end()
	return words
}

// policyOf returns how often something recurs by an interval and a count, with 0 for none, or why it
// cannot be read.
func policyOf(interval string, count int) (cadence.Policy, string) {
	o, ok := parseOften(interval)
	switch {
	case !ok:
		const reason = "%.60q is not an interval: write DAY, WEEK, MONTH or YEAR, or one such as 2 weeks"
		return cadence.Policy{}, fmt.Sprintf(reason, interval)
	case count == 0, count == o.count:
	case o.count == 1 && !o.counted:
		o.count = count
	case o.counted || count != 1:
		const reason = "%.60q and a count of %d contradict each other: keep one of the two columns"
		return cadence.Policy{}, fmt.Sprintf(reason, interval, count)
	}
	p := cadence.Policy{Interval: o.interval, Count: o.count}
	if err := p.Validate(); err != nil {
		return cadence.Policy{}, err.Error() + ": correct it"
	}
	return p, ""
}
