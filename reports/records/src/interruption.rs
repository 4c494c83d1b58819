//! Remarks on interruptions of a study. Once it has finished, they are of no use to a reader.

use super::{Note, utc_now};

/// A remark on an interruption.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Interruption {
    /// The user stopped the study.
    Stopped,
    /// The study went on, after a stop or a kill.
    Resumed,
    /// All measurements are done; earlier interruptions are over.
    Finished,
}

impl Interruption {
    const ALL: [Self; 3] = [Self::Stopped, Self::Resumed, Self::Finished];

    fn text(self) -> &'static str {
        match self {
            Self::Stopped => "stopped by the user; the same command resumes it",
            Self::Resumed => "resumed",
            Self::Finished => "finished",
        }
    }

    /// The remark, with the present time.
    pub fn note(self) -> Note {
        Note { text: format!("{}, {}", self.text(), utc_now()), ..Note::default() }
    }

    /// The interruption that a remark is about, if any.
    pub fn of(note: &Note) -> Option<Self> {
        let is_meant = |one: &Self| {
            let time = note.text.strip_prefix(one.text()).and_then(|rest| rest.strip_prefix(", "));
            time.is_some_and(|time| time.starts_with(|c: char| c.is_ascii_digit()))
        };
        Self::ALL.into_iter().find(is_meant)
    }
}

/// Drops the remarks on interruptions that are over.
pub(crate) fn drop_finished(notes: &mut Vec<Note>) {
    let is_end = |note: &Note| Interruption::of(note) == Some(Interruption::Finished);
    let Some(end) = notes.iter().rposition(is_end) else { return };
    let mut place = 0..;
    notes.retain(|note| place.next().is_some_and(|at| at > end) || Interruption::of(note).is_none());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finished_study_keeps_no_remark_on_its_interruptions_but_all_others() {
        use Interruption::{Finished, Resumed, Stopped};
        let other = Note { text: "resumed from a cache".into(), ..Note::default() };
        let kept = |of: &[Interruption]| {
            let mut notes: Vec<Note> = of.iter().map(|one| one.note()).collect();
            notes.insert(0, other.clone());
            drop_finished(&mut notes);
            assert_eq!(notes.first(), Some(&other));
            notes.iter().filter_map(Interruption::of).collect::<Vec<_>>()
        };
        assert_eq!(kept(&[Stopped]), [Stopped]);
        assert_eq!(kept(&[Stopped, Resumed]), [Stopped, Resumed]);
        assert_eq!(kept(&[Stopped, Resumed, Finished]), []);
        assert_eq!(kept(&[Stopped, Resumed, Finished, Stopped]), [Stopped]);
    }
}
