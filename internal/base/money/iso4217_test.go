package money

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// iso4217 holds the codes of ISO 4217's list one (current currencies and funds) by the
// number of decimals that it gives them. Codes without a number, such as XAU, are left
// out.
var iso4217 = map[int]string{
	0: "BIF CLP DJF GNF ISK JPY KMF KRW PYG RWF UGX UYI VND VUV XAF XOF XPF",
	2: "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BMD BND BOB BOV BRL BSD BTN BWP BYN BZD CAD CDF CHE CHF CHW CNY COP COU CRC CUP CVE CZK " +
		"DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GTQ GYD HKD HNL HTG HUF IDR ILS INR IRR JMD KES KGS KHR KPW KYD KZT LAK LBP LKR LRD LSL " +
		"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MXV MYR MZN NAD NGN NIO NOK NPR NZD PAB PEN PGK PHP PKR PLN QAR RON RSD RUB SAR SBD SCR SDG SEK " +
		"SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TOP TRY TTD TWD TZS UAH USD USN UYU UZS VED VES WST XAD XCD XCG YER ZAR ZMW ZWG",
	3: "BHD IQD JOD KWD LYD OMR TND",
	4: "CLF UYW",
}

// withdrawn are codes that ISO 4217 has withdrawn and the platform still knows.
const withdrawn = "ANG BGN HRK LTL LVL SLL STD VEF"

// TestExponentsMatchISO4217 leaves out two units of account that nothing is paid
// in: the platform has no such currency, and Milli counts thousandths.
func TestExponentsMatchISO4217(t *testing.T) {
	t.Parallel()
	listed := map[Currency]int{}
	for exponent, codes := range iso4217 {
		for code := range strings.FieldsSeq(codes) {
			c := Currency(code)
			if _, twice := listed[c]; twice {
				t.Errorf("%s is listed twice", c)
			}
			listed[c] = exponent
			if got := c.Exponent(); got != exponent && exponent <= 3 {
				t.Errorf("%s has %d decimals, want %d", c, got, exponent)
			}
		}
	}
	for _, c := range slices.Sorted(maps.Keys(exponents)) {
		if _, known := listed[c]; !known {
			t.Errorf("%s is no code of ISO 4217", c)
		}
	}
	for code := range strings.FieldsSeq(withdrawn) {
		if got := Currency(code).Exponent(); got != 2 {
			t.Errorf("%s has %d decimals, want 2", code, got)
		}
	}
	for c := range listed {
		if c.Exponent() > Finest.Exponent() {
			t.Errorf("%s has more decimals than %s", c, Finest)
		}
	}
}
