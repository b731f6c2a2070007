package loyalty

// SourceType is what points were moved for.
type SourceType string

// The occasions. Those up to Custom are what rules give points for.
const (
	Purchase      SourceType = "PURCHASE"
	Start         SourceType = "SUBSCRIPTION_START"
	Renewal       SourceType = "SUBSCRIPTION_RENEWAL"
	CreateAccount SourceType = "CREATE_ACCOUNT"
	NewsLetter    SourceType = "NEWSLETTER"
	SMS           SourceType = "SMS"
	Birthday      SourceType = "BIRTHDAY"
	Review        SourceType = "REVIEW"
	Facebook      SourceType = "FACEBOOK"
	Instagram     SourceType = "INSTAGRAM"
	Twitter       SourceType = "TWITTER"
	Pinterest     SourceType = "PINTEREST"
	YouTube       SourceType = "YOUTUBE"
	TikTok        SourceType = "TIKTOK"
	ShareFacebook SourceType = "SHARE_ON_FACEBOOK"
	ShareX        SourceType = "SHARE_ON_X"
	Referral      SourceType = "REFERRAL"
	Custom        SourceType = "CUSTOM"

	Manual       SourceType = "MANUAL" // by a person
	Import       SourceType = "IMPORT" // from another programme
	RewardSource SourceType = "REWARD" // taken, or given back
	Expiry       SourceType = "EXPIRY"
)

// EarnSources lists the occasions for which rules can give points.
var EarnSources = []SourceType{
	Purchase, Start, Renewal, CreateAccount, NewsLetter, SMS, Birthday, Review, Facebook, Instagram, Twitter, Pinterest, YouTube,
	TikTok, ShareFacebook, ShareX, Referral, Custom,
}

// oncePerMember reports whether a member is given points for the occasion only once,
// ever.
func (o SourceType) oncePerMember() bool {
	switch o {
	case CreateAccount, NewsLetter, SMS, Facebook, Instagram, Twitter, Pinterest, YouTube, TikTok, ShareFacebook, ShareX:
		return true
	}
	return false
}

// Source names one thing for which points were moved. The same source moves
// them once for each rule and kind of entry.
type Source struct {
	Type SourceType
	ID   string
}
