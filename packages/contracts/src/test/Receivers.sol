// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev Refuses native coin.
contract RefusingReceiver {
    receive() external payable {
        revert("no");
    }
}

/// @dev Burns whatever gas it is given.
contract BurningReceiver {
    receive() external payable {
        while (true) {}
    }
}

/// @dev Accepts native coin with most of the gas that a payment grants.
contract DemandingReceiver {
    receive() external payable {
        require(gasleft() >= 40_000, "too little gas");
    }
}

/// @dev Makes a call when it is paid, and accepts the payment only if that call fails.
contract ReenteringReceiver {
    address private immutable TARGET;
    bytes32 private immutable SELECTOR_AND_ARGUMENT;
    address private immutable SECOND_ARGUMENT;

    constructor(address target, bytes4 selector, address first, address second) {
        TARGET = target;
        SELECTOR_AND_ARGUMENT = bytes32(selector) | bytes32(uint256(uint160(first)) << 64);
        SECOND_ARGUMENT = second;
    }

    receive() external payable {
        address first = address(uint160(uint256(SELECTOR_AND_ARGUMENT) >> 64));
        (bool ok,) = TARGET.call(abi.encodeWithSelector(bytes4(SELECTOR_AND_ARGUMENT), first, SECOND_ARGUMENT));
        require(!ok, "re-entered");
    }
}

/// @dev Code of another wallet vendor: no `pay`, but it accepts coins.
contract ForeignDelegate {
    receive() external payable {}

    fallback() external payable {}
}

/// @dev Deploys by CREATE2, as the public factory does on every chain.
contract Create2Factory {
    event Deployed(address created);

    function deploy(bytes32 salt, bytes memory code) external {
        address created;
        assembly {
            created := create2(0, add(code, 0x20), mload(code), salt)
        }
        require(created != address(0), "not created");
        emit Deployed(created);
    }
}
