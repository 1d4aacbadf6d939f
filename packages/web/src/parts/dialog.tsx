import type { ComponentChildren } from 'preact'
import { useId, useLayoutEffect, useRef } from 'preact/hooks'

type Props = { title: string; onClose(): void; children: ComponentChildren }

/** A modal dialog of the browser: it holds the focus, Escape closes it, and the focus returns. */
export function Dialog({ title, onClose, children }: Props) {
  const shown = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Before the next paint, so that no key goes to the element behind it.
  useLayoutEffect(() => {
    const dialog = shown.current
    const before = document.activeElement as HTMLElement | null
    // A click beside it closes it, in browsers that know the attribute.
    dialog?.setAttribute('closedby', 'any')
    dialog?.showModal()
    dialog?.querySelector('input')?.focus()
    return () => {
      dialog?.close()
      // A dialog that is already removed does not return the focus by itself.
      before?.focus()
    }
  }, [])
  return (
    <dialog ref={shown} aria-labelledby={id} onClose={onClose}>
      <div class="dialog">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button type="button" class="quiet" onClick={onClose}>
            Close
          </button>
        </div>
        {children}
      </div>
    </dialog>
  )
}
