package simulator

import "strings"

// provinces are the parts of some countries, by code. The platform knows those of
// many more; the simulator takes whatever is said of the others.
var provinces = map[string]map[string]string{
	"AU": {
		"ACT": "Australian Capital Territory", "NSW": "New South Wales", "NT": "Northern Territory", "QLD": "Queensland", "SA": "South Australia",
		"TAS": "Tasmania", "VIC": "Victoria", "WA": "Western Australia",
	},
	"CA": {
		"AB": "Alberta", "BC": "British Columbia", "MB": "Manitoba", "NB": "New Brunswick", "NL": "Newfoundland and Labrador", "NS": "Nova Scotia",
		"NT": "Northwest Territories", "NU": "Nunavut", "ON": "Ontario", "PE": "Prince Edward Island", "QC": "Quebec", "SK": "Saskatchewan", "YT": "Yukon",
	},
	"US": {
		"AK": "Alaska", "AL": "Alabama", "AR": "Arkansas", "AS": "American Samoa", "AZ": "Arizona", "CA": "California", "CO": "Colorado", "CT": "Connecticut",
		"DC": "District of Columbia", "DE": "Delaware", "FL": "Florida", "FM": "Micronesia", "GA": "Georgia", "GU": "Guam", "HI": "Hawaii", "IA": "Iowa",
		"ID": "Idaho", "IL": "Illinois", "IN": "Indiana", "KS": "Kansas", "KY": "Kentucky", "LA": "Louisiana", "MA": "Massachusetts", "MD": "Maryland",
		"ME": "Maine", "MH": "Marshall Islands", "MI": "Michigan", "MN": "Minnesota", "MO": "Missouri", "MP": "Northern Mariana Islands", "MS": "Mississippi",
		"MT": "Montana", "NC": "North Carolina", "ND": "North Dakota", "NE": "Nebraska", "NH": "New Hampshire", "NJ": "New Jersey", "NM": "New Mexico",
		"NV": "Nevada", "NY": "New York", "OH": "Ohio", "OK": "Oklahoma", "OR": "Oregon", "PA": "Pennsylvania", "PR": "Puerto Rico", "PW": "Palau",
		"RI": "Rhode Island", "SC": "South Carolina", "SD": "South Dakota", "TN": "Tennessee", "TX": "Texas", "UT": "Utah", "VA": "Virginia",
		"VI": "U.S. Virgin Islands", "VT": "Vermont", "WA": "Washington", "WI": "Wisconsin", "WV": "West Virginia", "WY": "Wyoming",
		"AA": "Armed Forces Americas", "AE": "Armed Forces Europe", "AP": "Armed Forces Pacific",
	},
}

// countries are what some countries are called, by code.
var countries = map[string]string{
	"AT": "Austria", "AU": "Australia", "BE": "Belgium", "BR": "Brazil", "CA": "Canada", "CH": "Switzerland", "CZ": "Czechia", "DE": "Germany", "DK": "Denmark",
	"ES": "Spain", "FI": "Finland", "FR": "France", "GB": "United Kingdom", "IE": "Ireland", "IN": "India", "IT": "Italy", "JP": "Japan", "MX": "Mexico",
	"NL": "Netherlands", "NO": "Norway", "NZ": "New Zealand", "PL": "Poland", "PT": "Portugal", "SE": "Sweden", "SG": "Singapore", "US": "United States", "ZA": "South Africa",
}

// countryName returns what a country is called, or its code where that is all that
// is known.
func countryName(code string) string { return or(countries[code], code) }

// countryCode returns the code of a country that is given by name, or what was given.
func countryCode(given string) string {
	for code, name := range countries {
		if strings.EqualFold(name, given) {
			return code
		}
	}
	return given
}

// provinceCode returns the code of a province that is given by code or name, and
// false when the country is known not to have it.
func provinceCode(country, given string) (string, bool) {
	known := provinces[country]
	if known == nil || given == "" {
		return given, true
	}
	for code, name := range known {
		if strings.EqualFold(code, given) || strings.EqualFold(name, given) {
			return code, true
		}
	}
	return "", false
}

// provinceName returns what a province is called, or its code where that is all
// that is known.
func provinceName(country, code string) string { return or(provinces[country][code], code) }
