import type { ComponentChildren } from 'preact'

type Props = {
  class: string
  isDisabled?: boolean
  onClick(): void
  children: ComponentChildren
  /** Enter in a field of its form presses it too. */
  isSubmit?: boolean
}

/** A button that keeps the focus while it is disabled, so that keyboard users do not lose their place. */
export function ActionButton({ isDisabled = false, isSubmit, onClick, children, ...rest }: Props) {
  const press = (event: Event) => {
    // The page handles the form itself.
    event.preventDefault()
    if (!isDisabled) onClick()
  }
  return (
    <button {...rest} type={isSubmit ? 'submit' : 'button'} aria-disabled={isDisabled} onClick={press}>
      {children}
    </button>
  )
}
