package optin

import (
	"slices"
	"strings"
)

// Word is what a person asks for by an SMS.
type Word string

// The words; empty: another text.
const (
	Stop  Word = "STOP"
	Start Word = "START"
	Help  Word = "HELP"
)

// spellings are what carriers and providers take for each word, with those of the languages of the
// portal that people write in place of STOP.
var spellings = map[Word][]string{
	Stop:  {"STOP", "STOPALL", "STOP ALL", "UNSUBSCRIBE", "CANCEL", "END", "QUIT", "OPTOUT", "OPT OUT", "REVOKE", "STOPP", "ARRET", "ARRÊT", "BAJA", "PARAR", "PARE", "停止"},
	Start: {"START", "UNSTOP", "YES", "SUBSCRIBE"},
	Help:  {"HELP", "INFO", "HILFE", "AIDE", "AYUDA", "AJUDA", "AIUTO"},
}

// WordOf reads an SMS. The whole text must be the word; case, white space and signs at its ends do not
// matter.
func WordOf(text string) Word {
	said := strings.ToUpper(strings.Join(strings.Fields(strings.Trim(text, " \t\r\n.,;:!?\"'“”„«»-")), " "))
	for word, list := range spellings {
		if slices.Contains(list, said) {
			return word
		}
	}
	return ""
}
