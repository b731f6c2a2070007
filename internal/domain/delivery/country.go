package delivery

import "strings"

// countries are the codes that the platform knows: ISO 3166-1 and a few that are
// used beside it.
const countries = `
	AC AD AE AF AG AI AL AM AN AO AR AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR
	CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GW GY HK HM HN HR HT HU ID IE
	IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MK ML MM MN MO MQ MR MS MT MU
	MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PS PT PY QA RE RO RS RU RW SA SB SC SD SE SG SH SI SJ SK SL SM SN SO
	SR SS ST SV SX SY SZ TA TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VN VU WF WS XK YE YT ZA ZM ZW
`

// parted are the countries whose provinces the platform knows, so that a zone must say
// whether it includes all of them.
const parted = " AE AR AU BR CA CL CN CO EG ES GT HK ID IE IN IT JP KR KW MX MY NG NZ PA PE PH PT RO RU TH US UY ZA "

// Countries returns the codes of all countries of the platform.
func Countries() []string { return strings.Fields(countries) }

// IsCountry reports whether code is a country of the platform, in upper case.
func IsCountry(code string) bool {
	return len(code) == 2 && strings.Contains(" "+strings.Join(strings.Fields(countries), " ")+" ", " "+code+" ")
}

// HasParts reports whether a country has parts that can be delivered to one by
// one.
func HasParts(code string) bool { return strings.Contains(parted, " "+code+" ") }
