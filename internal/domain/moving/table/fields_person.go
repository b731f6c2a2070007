package table

var customerFields = []Field{
	{
		Name: "customerId", Label: "Customer", Example: "7061234567890",
		About: "the platform's number or graph ID of the customer",
		spellings: spelled(
			"customer", "shopify customer id", "customer number", "external customer id", "platform customer id",
		),
	},
	{
		Name: "email", Label: "E-mail address", Example: "ana@example.com",
		About:     "the customer's e-mail address",
		spellings: spelled("customer email", "e mail", "mail", "email address", "customer email address", "contact email"),
	},
	{
		Name: "firstName", Label: "First name", Example: "Ana",
		About:     "the customer's first name",
		spellings: spelled("customer first name", "given name", "forename", "billing first name"),
	},
	{
		Name: "lastName", Label: "Last name", Example: "Costa",
		About:     "the customer's last name",
		spellings: spelled("customer last name", "surname", "family name", "billing last name"),
	},
	{
		Name: "phone", Label: "Phone", Example: "+49 30 901820",
		About:     "the customer's phone number",
		spellings: spelled("customer phone", "phone number", "telephone", "mobile", "billing phone"),
	},
}

var personFields = []Field{
	{
		Name: "birthday", Label: "Birthday", Example: "1990-04-23", form: dates,
		About:     "the customer's date of birth",
		spellings: spelled("birth date", "date of birth", "dob", "birthdate"),
	},
	{
		Name: "language", Label: "Language", Example: "de",
		About:     "tag of the customer's language, such as de or pt-BR",
		spellings: spelled("locale", "lang", "customer locale", "language code", "customer language", "preferred language"),
	},
	{
		Name: "emailConsent", Label: "E-mail consent", Example: "yes",
		About: "whether the customer agreed to e-mails: yes or no",
		spellings: spelled(
			"accepts marketing", "accepts email marketing", "email marketing", "email marketing consent", "marketing consent",
			"email opt in", "newsletter", "consent", "subscribed", "email subscribed",
		),
	},
}

var pointFields = []Field{
	{
		Name: "balance", Label: "Balance", Required: true, Example: "1250", form: numbers,
		About: "points that the customer has",
		spellings: spelled(
			"points", "points balance", "point balance", "current points", "available points", "current balance",
			"loyalty points",
		),
	},
	{
		Name: "lifetimePoints", Label: "Lifetime points", Example: "4800", form: numbers,
		About: "all points that the customer ever earned; without them, the balance",
		spellings: spelled(
			"lifetime", "total points", "points earned", "total earned", "total points earned", "earned points",
		),
	},
	{
		Name: "note", Label: "Note", Example: "From the old programme",
		About:     "note of the points",
		spellings: spelled("notes", "comment", "reason"),
	},
}

var deliveryFields = []Field{
	{
		Name: "deliveryPrice", Label: "Delivery price", Example: "4.90", form: numbers,
		About:     "price of the delivery of each order",
		spellings: spelled("shipping price", "delivery cost", "shipping cost", "shipping rate", "shipping amount"),
	},
	{
		Name: "deliveryMethod", Label: "Delivery method", Example: "Standard",
		About: "title of the delivery method",
		spellings: spelled(
			"delivery method title", "shipping method", "shipping title", "shipping line title", "shipping method title",
			"shipping rate title",
		),
	},
	address("FirstName", "First name of the recipient", "Ana", "first name"),
	address("LastName", "Last name of the recipient", "Costa", "last name"),
	address("Company", "Company", "Costa GmbH", "company"),
	address("Address1", "Address", "Torstr. 1", "address 1", "address line 1", "street", "address"),
	address("Address2", "Second line of the address", "2nd floor", "address 2", "address line 2"),
	address("City", "City", "Berlin", "city", "town"),
	address("Province", "Province", "Berlin", "province", "state", "region"),
	address("ProvinceCode", "Code of the province", "BE", "province code", "state code"),
	address("Country", "Country", "Germany", "country", "country name"),
	address("CountryCode", "Code of the country", "DE", "country code"),
	address("Zip", "Postal code", "10119", "zip", "postal code", "postcode", "zip code"),
	address("Phone", "Phone of the recipient", "+49 30 901820", "phone"),
}

// address returns a field of the delivery address. Its column may be called after the delivery or
// the shipping, with or without the word address.
func address(name, label, example string, names ...string) Field {
	f := Field{Name: "delivery" + name, Label: label, About: "of the delivery address", Example: example}
	for _, n := range names {
		for _, of := range []string{"delivery ", "shipping ", "delivery address ", "shipping address ", "ship to "} {
			f.spellings = append(f.spellings, spell(of+n))
		}
	}
	if name != "FirstName" && name != "LastName" && name != "Phone" && name != "Province" {
		f.spellings = append(f.spellings, spelled(names...)...)
	}
	return f
}
