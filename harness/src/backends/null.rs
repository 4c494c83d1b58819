//! The target `null`: sky without surfaces. It takes no time, so what surrounds the renderers can be tested
//! by itself.

use lockstep_core::null::NullRenderer;
use lockstep_core::{Backend, Error, OpenOptions, Renderer, Result, TargetStatus};

/// The name of the null backend and of its only target.
pub(super) const NAME: &str = "null";

/// The backend of [`NullRenderer`].
#[derive(Debug)]
pub(super) struct Null;

impl Backend for Null {
    fn name(&self) -> &'static str {
        NAME
    }

    fn targets(&self) -> Vec<TargetStatus> {
        vec![TargetStatus { name: NAME.into(), state: Ok(NullRenderer::new().device().clone()) }]
    }

    fn open(&self, target: &str, _: &OpenOptions) -> Result<Box<dyn Renderer>> {
        if target == NAME {
            return Ok(Box::new(NullRenderer::new()));
        }
        Err(Error::Unavailable {
            what: format!("the backend {NAME} has no target `{target}`"),
            remedy: format!("Its only target is `{NAME}`."),
        })
    }
}
