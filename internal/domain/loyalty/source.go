package loyalty

// Occasion is what points were moved for.
type Occasion string

// The occasions. Those up to Custom are what rules give points for.
const (
	Purchase      Occasion = "PURCHASE"
	Start         Occasion = "SUBSCRIPTION_START"
	Renewal       Occasion = "SUBSCRIPTION_RENEWAL"
	CreateAccount Occasion = "CREATE_ACCOUNT"
	NewsLetter    Occasion = "NEWSLETTER"
	SMS           Occasion = "SMS"
	Birthday      Occasion = "BIRTHDAY"
	Review        Occasion = "REVIEW"
	Facebook      Occasion = "FACEBOOK"
	Instagram     Occasion = "INSTAGRAM"
	Twitter       Occasion = "TWITTER"
	Pinterest     Occasion = "PINTEREST"
	YouTube       Occasion = "YOUTUBE"
	TikTok        Occasion = "TIKTOK"
	ShareFacebook Occasion = "SHARE_ON_FACEBOOK"
	ShareX        Occasion = "SHARE_ON_X"
	Referral      Occasion = "REFERRAL"
	Custom        Occasion = "CUSTOM"

	Manual Occasion = "MANUAL" // by a person
	Import Occasion = "IMPORT" // from another programme
	Reward Occasion = "REWARD" // taken, or given back
	Expiry Occasion = "EXPIRY"
)

// Earning lists the occasions for which rules can give points.
var Earning = []Occasion{
	Purchase, Start, Renewal, CreateAccount, NewsLetter, SMS, Birthday, Review, Facebook, Instagram, Twitter, Pinterest, YouTube,
	TikTok, ShareFacebook, ShareX, Referral, Custom,
}

// once reports whether a member is given points for the occasion only once,
// ever.
func (o Occasion) once() bool {
	switch o {
	case CreateAccount, NewsLetter, SMS, Facebook, Instagram, Twitter, Pinterest, YouTube, TikTok, ShareFacebook, ShareX:
		return true
	}
	return false
}

// Source names one thing for which points were moved. The same source moves
// them once for each rule and kind of entry.
type Source struct {
	Of Occasion
	ID string
}
