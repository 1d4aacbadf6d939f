// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoAdapter
/// @notice A stateless connection from the vault to a venue that sells the output token.
interface IGeoAdapter {
    /// @notice Buys at least `amountOut` of `tokenOut` for `recipient`, and spends at most `maxIn` of `tokenIn`.
    /// @dev Called by the vault only. A token input is pulled from the caller, who approved exactly `maxIn`; a native
    ///      input comes as value. The unspent rest goes back to the caller in the same call. The zero address is native.
    /// @param tokenIn The token the vault sells.
    /// @param maxIn The maximum to spend.
    /// @param tokenOut The token the recipient gets.
    /// @param amountOut The minimum the recipient must get.
    /// @param recipient The recipient of the output.
    /// @param data Venue-specific data, chosen by the deliverer.
    function buy(
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        uint256 amountOut,
        address recipient,
        bytes calldata data
    ) external payable;
}
