package locale

import "golang.org/x/text/language"

// formats are how a language writes dates, times, percentages and lists. Patterns have
// the parts that Printer.when knows.
type formats struct {
	name                string    // of the language in itself
	weekdays            [7]string // from Sunday
	months, shortMonths [12]string
	firstDay            string // how the first day of a month is written; empty: 1
	date, short, clock  string
	percent             string
	list                list
}

// list is what stands between the parts of a list.
type list struct {
	comma string // of three and more, before the last
	last  string // of three and more
	two   string // of two
}

// formatsOf returns the formats of a tag.
func formatsOf(tag language.Tag) (formats, bool) {
	if tag.String() == Pseudo {
		tag = language.AmericanEnglish
	}
	base, _ := tag.Base()
	f, has := allFormats[base.String()]
	if region, _ := tag.Region(); base.String() == "en" && !monthFirst[region.String()] {
		f = british(f)
	}
	return f, has
}

// Name returns what a language of a catalogue is called in itself: "Deutsch".
func Name(tag string) string {
	f, _ := formatsOf(language.Make(tag))
	return f.name
}

// monthFirst are the regions whose English writes the month before the day.
var monthFirst = map[string]bool{"US": true, "CA": true, "PH": true, "PR": true, "GU": true, "VI": true, "AS": true, "MP": true, "UM": true}

// british returns the formats of English outside of North America.
func british(f formats) formats {
	f.date, f.short, f.clock = "{weekday} {day} {month} {year}", "{day} {mon} {year}", "{hh}:{minute}"
	f.list.last = f.list.two
	return f
}

// allFormats are the formats of the languages that texts can be written in, from the
// patterns of CLDR 48: date "full", short "medium", clock "short", lists "standard". It
// writes the first of a month in French as printers do, "1er".
var allFormats = map[string]formats{
	"en": {
		name:        "English",
		weekdays:    [7]string{"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
		months:      [12]string{"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"},
		shortMonths: [12]string{"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"},
		date:        "{weekday}, {month} {day}, {year}", short: "{mon} {day}, {year}", clock: "{halfday}:{minute}\u202f{noon}",
		percent: "{n}%", list: list{", ", ", and ", " and "},
	},
	"de": {
		name:     "Deutsch",
		weekdays: [7]string{"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag", "Samstag"},
		months:   [12]string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"},
		date:     "{weekday}, {day}. {month} {year}", short: "{dd}.{mm}.{year}", clock: "{hh}:{minute}",
		percent: "{n}\u00a0%", list: list{", ", " und ", " und "},
	},
	"fr": {
		name:        "Français",
		weekdays:    [7]string{"dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"},
		months:      [12]string{"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août", "septembre", "octobre", "novembre", "décembre"},
		shortMonths: [12]string{"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.", "oct.", "nov.", "déc."},
		firstDay:    "1er", date: "{weekday} {day} {month} {year}", short: "{day} {mon} {year}", clock: "{hh}:{minute}",
		percent: "{n}\u202f%", list: list{", ", " et ", " et "},
	},
	"es": {
		name:        "Español",
		weekdays:    [7]string{"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
		months:      [12]string{"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto", "septiembre", "octubre", "noviembre", "diciembre"},
		shortMonths: [12]string{"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct", "nov", "dic"},
		date:        "{weekday}, {day} de {month} de {year}", short: "{day} {mon} {year}", clock: "{hour}:{minute}",
		percent: "{n}\u00a0%", list: list{", ", " y ", " y "},
	},
	"it": {
		name:        "Italiano",
		weekdays:    [7]string{"domenica", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato"},
		months:      [12]string{"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto", "settembre", "ottobre", "novembre", "dicembre"},
		shortMonths: [12]string{"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov", "dic"},
		date:        "{weekday} {day} {month} {year}", short: "{day} {mon} {year}", clock: "{hh}:{minute}",
		percent: "{n}%", list: list{", ", " e ", " e "},
	},
	"nl": {
		name:        "Nederlands",
		weekdays:    [7]string{"zondag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag"},
		months:      [12]string{"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus", "september", "oktober", "november", "december"},
		shortMonths: [12]string{"jan", "feb", "mrt", "apr", "mei", "jun", "jul", "aug", "sep", "okt", "nov", "dec"},
		date:        "{weekday} {day} {month} {year}", short: "{day} {mon} {year}", clock: "{hh}:{minute}",
		percent: "{n}%", list: list{", ", " en ", " en "},
	},
	"pt": {
		name:        "Português (Brasil)",
		weekdays:    [7]string{"domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira", "sexta-feira", "sábado"},
		months:      [12]string{"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto", "setembro", "outubro", "novembro", "dezembro"},
		shortMonths: [12]string{"jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.", "out.", "nov.", "dez."},
		date:        "{weekday}, {day} de {month} de {year}", short: "{day} de {mon} de {year}", clock: "{hh}:{minute}",
		percent: "{n}%", list: list{", ", " e ", " e "},
	},
	"ja": {
		name:     "日本語",
		weekdays: [7]string{"日曜日", "月曜日", "火曜日", "水曜日", "木曜日", "金曜日", "土曜日"},
		months:   [12]string{"1月", "2月", "3月", "4月", "5月", "6月", "7月", "8月", "9月", "10月", "11月", "12月"},
		date:     "{year}年{month}{day}日{weekday}", short: "{year}/{mm}/{dd}", clock: "{hour}:{minute}",
		percent: "{n}%", list: list{"、", "、", "、"},
	},
}
